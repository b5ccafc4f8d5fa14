"""Commands that serve and operate: settings come in; a server, an account or a check goes out.

In reading order:

serve_command     `inferscale serve`: page and API
engine_command    `inferscale engine`: vLLM's server with the connector
health_commands   `inferscale doctor` and `inferscale migrate`
graph_command     `inferscale graph`: both graphs as Mermaid
account_commands  `inferscale accounts`: logins with a password
key_commands      `inferscale keys`: keys of the API
backup_commands   `inferscale backup` and `inferscale restore`
"""
