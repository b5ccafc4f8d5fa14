"""Capacity of a fleet: `inferscale plan`.

A `FleetDemand`, a model's shape and an engine's rates come in; a report of bytes, engines
and times goes out. In reading order:

fleet_demand       users, facts and messages
model_shape        bytes and operations of a model
curve              a time as a function of tokens
rates              rates of one engine, from a report of `inferscale bench`
scaling            rates of another shape or number of GPUs
che_approximation  hit rate of an LRU cache
engine_capacity    users and messages of one engine
capacity_report    engines that a fleet needs
service_times      seconds of a message, by tier
simulation         the fleet in use, an event at a time
"""
