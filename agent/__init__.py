"""The agent: replies to messages with what it knows, and remembers what it is told.

In: requests for replies, and changes of facts, of one user at a time. Out: streamed reply
events, and facts and conversations in SQL that the memory engine is kept equal to.

    agent.py           the two graphs put together over one memory and one database
    request.py         a request for a reply
    reply_events.py    the events of a reply, and its trace
    reply/             the reply graph
    conversations/     conversations and their turns in SQL
    remember/          the remember graph and the worker that runs it
    extraction/        statements found in turns
    facts/             facts in SQL: stored, reconciled, forgotten, exported
    db/                database, tables and migrations
    entities.py        plain values handed out
    owner.py           names of users and agents
    text.py            text cleaned at the edge
    maintenance.py     work of every minute
    periodic.py        the loop under it
"""
