"""HTTP API for other programs, in the shape of OpenAI's where OpenAI has one.

In comes a request, out goes JSON or a stream of server-sent events. In reading order:
`gate` routes requests to API, page or sign-in; `application` assembles the endpoints; `access`
knows the caller and the rate limit; `chat`, with `chat_schema`, `chat_messages`,
`running_replies` and `completion`, replies to a message; `memories` lists and changes facts;
`mcp` offers both as tools; `operations` is for operators; `api_errors` gives errors their status
codes; `api_docs` is the page of the endpoints.
"""
