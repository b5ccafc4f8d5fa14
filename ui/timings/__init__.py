"""The timings panel.

In reading order: `timings_layout` draws it; `timing_chart` draws the times of this page;
`three_way` measures one question in three ways.
"""
