"""Serving: from a port to the page and the API over one service.

In reading order: `server` serves until a signal; `listener` takes the port; `startup_page`
answers while the model loads; `stop_signals` waits for the signals; `assembly` puts the page, the
API and the sign-in pages together; `uvicorn_server` runs them.
"""
