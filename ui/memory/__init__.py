"""The memory panel.

In reading order: `memory_layout` draws it; `fact_panel` handles single facts and `fact_list` draws
them; `bulk_panel` handles the memory as a whole.
"""
