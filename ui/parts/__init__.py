"""Parts that the panels share; they import no panel.

In reading order: `event_handlers` makes Gradio's handlers of ours; `page_states` are common changes
of the page; `row_events` are clicks inside lists; `file_download` makes files in the browser;
`shared_parts` are components; `escaping` makes text safe.
"""
