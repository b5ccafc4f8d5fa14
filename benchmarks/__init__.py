"""Benchmarks: speed, quality and capacity of KV injection, and a demo.

Settings and a data set come in; a report goes out, plain values ready for JSON, which
`inferscale` prints and `docs/` shows. Nothing here is imported by the product.

speed     times, bytes and requests a second, as text and as KV: `inferscale bench`
quality   fidelity, answers, recall and extraction on data sets: `inferscale eval`
capacity  engines and memory for a fleet, and its simulation: `inferscale plan`
demo      a sample person's questions in three arms: `inferscale demo`
data      the rates that `inferscale plan` ships with
"""
