"""The command line `inferscale`: every command imports only what it needs."""
