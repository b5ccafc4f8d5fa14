"""The chat: one turn in one mode or in both, and the traces of its replies.

In come a message and the page's inputs, out go changes of the panes. In reading order: `page` is
the inputs; `turn` asks and streams; `running_turns` lets a tab end its turn; `update_batches` makes
few updates of many events; `pane` is what a pane shows; `trace_view`, `reply_diff` and
`reply_times` draw a trace and compare replies; `reply_history` keeps the traces of earlier ones.
"""
