"""Generators of the parts of README.md and docs/ that the code and the reports already say.

In goes the repository: docstrings, commands, settings, graphs, reports under docs/benchmarks.
Out come blocks of Markdown, which `scripts.readme` puts between the marks of the pages.

    source_tree.py       the Python files, and the first lines of their docstrings
    file_list.py         all files in the order of the flow
    command_list.py      all commands with their options
    measured_figures.py  tables of measured figures
    markdown_page.py     marks, headings and links of a page
"""
