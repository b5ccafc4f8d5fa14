"""Simulation of a fleet in use, as discrete events.

A demand, rates and a `Scenario` come in; a report of the message log goes out. In reading
order:

scenario          duration, mode, and the loss of an engine
simulated_users   when they talk, and how many facts they have
lru_tiers         KV on device, in host memory and on disk
simulated_engine  queues and tiers of an engine
fleet_simulation  users, engines and the loss, event by event
message_log       times and tiers of messages, and their figures
simulate          a run and its report
"""
