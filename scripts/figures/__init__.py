"""Generators of the figures of docs/performance.md, docs/evaluation.md and docs/scale.md.

In go reports under docs/benchmarks, and out come tables between the marks of the pages, and
plots beside the reports. `make figures` runs them.

    speed_figures.py, speed_plots.py      of `inferscale bench`
    quality_figures.py, quality_plots.py  of `inferscale eval`
    scale_runs.py                         the runs of `inferscale plan` that the page is made of
    scale_figures.py, scale_plots.py      of these runs, and of `make fleet`
    ship_rates.py                         the measured rates that the program ships with
"""
