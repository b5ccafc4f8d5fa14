"""The page as a whole.

In reading order: `web_app` serves it; `session_guard` keeps a browser tab to one user;
`page_layout` draws it in the colours of `theme`; `wiring` and `memory_wiring` connect events with
the handlers that `user_handlers` makes; `user_menu` is the name of the user and the way out.
"""
