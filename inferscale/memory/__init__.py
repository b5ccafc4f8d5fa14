"""Commands about memory: a user and texts come in; replies and facts go out. In reading order:

reply_commands     `inferscale ask` and `inferscale compare`
fact_commands      `inferscale facts`: add, list, undo, history, reindex
forget_commands    `inferscale facts forget` and `inferscale facts audit`
transfer_commands  `inferscale facts export` and `inferscale facts import`
"""
