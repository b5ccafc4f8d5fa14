"""The reply graph: from a user's message to its stored reply.

In: a `Request`. Out: reply events while it is generated, and the stored reply.

    reply_graph.py    the nodes in order, and the class that runs them
    reply_state.py    the state that flows through them, and the services that they use
    accumulator.py    the text as it was displayed, and how the reply ended
    trace.py          times, token counts and used facts of a finished reply
"""
