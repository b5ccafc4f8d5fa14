"""The protocol between callers and the connector: `kv_transfer_params["inferscale"]`.

In: what a caller asks for one request. Out: the parsed request inside vLLM, and on the way
back its outcome. Both sides import this package, and it imports nothing but the standard
library. In reading order:

    spans.py          Span and Spans: where segments lie in a prompt, as one string
    params.py         requests: a writer and a reader for each operation, drawn as a table
    signature.py      the HMAC over all fields of a request, and the HTTP server's API key
    outcome.py        outcomes: what the connector did with a request, written and read
    kept_outcomes.py  outcomes of streamed requests, kept until their callers ask
"""
