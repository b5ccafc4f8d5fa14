"""Command line `inferscale`; each command imports only its own needs.

Arguments and settings come in; results go out on stdout, everything else on stderr. In
reading order:

command         the frame of every command
output          results, notes and tables
commands        all commands, in the order in which a new user meets them
serve           the server, its engine, accounts, keys, health and backups
memory          questions, facts, forgetting, export and import
measure         demo, benchmark, evaluations and capacity
settings_table  the settings with their values
__main__        the same as `python -m inferscale`
"""
