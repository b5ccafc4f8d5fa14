"""The remember graph: from a stored user's turn to facts, after the reply.

In: turns that are pending in SQL. Out: changes of facts, saved and handed to the memory.

    remember_worker.py    the queue of turns, in the order they were said
    remember_graph.py     the nodes in order
    remember_state.py     the state that flows through them, and the services that they use
    decider.py            decisions about statements near known facts, held against rules
    llm_decider.py        the decider that asks a language model
"""
