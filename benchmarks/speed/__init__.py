"""Speed of KV injection: `inferscale bench`.

A `Workload` comes in; a report of times, bytes and rates goes out. In reading order:

workload            parameters of a benchmark
prompt_material     token ids cut into prefix, facts and question
measured_request    one timed request, checked for what was injected
latency             time to first token of one request at a time, by arm
throughput          requests a second under load
encoding_rate       facts encoded a second
chat_beside_import  a chat's time to first token while facts are encoded
bandwidth           the injection's kernel against a copy
bench_parts         all parts on a started engine
bench_session       engine, parts and report, from start to end
targets             figures that a report is judged by
"""
