"""Authentication: accounts, API keys and browser sessions.

In come a request's headers and address, out comes its Caller. In reading order: `sign_in`
identifies callers; `api_keys`, `accounts` with `passwords`, and `browser_sessions` keep what
they sign in with; `sign_in_page` and `password_page`, with `sign_in_forms` and
`sign_in_attempts`, are the pages for browsers.
"""
