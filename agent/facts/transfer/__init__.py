"""Transfer of facts: a user's facts go out as a JSON document, and come in from one.

In reading order: `export_schema` (the versioned document), `exporter`, `importer`.
"""
