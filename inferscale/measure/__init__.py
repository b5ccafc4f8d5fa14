"""Commands that measure: reports go out as tables and as one JSON line. In reading order:

demo_command   `inferscale demo`
bench_command  `inferscale bench`
bench_tables   its report as tables
eval_commands  `inferscale eval`
eval_tables    its reports as tables
plan_options   types of the options of `inferscale plan`
plan_command   `inferscale plan`
plan_tables    its report as tables
"""
