"""Extraction: a user's turn comes in, candidates for facts go out.

In reading order:

- `candidate`: the candidate, and the change that it makes to known facts
- `extractor`: the interface of extractors
- `rule_extractor`: extraction by rules, for English, in milliseconds
- `llm_extractor`: extraction by the served model, in any language
- `extraction_prompts`, `extraction_schema`, `schema_request`: its prompts, its answer, its request
- `client_tasks`: messages that a chat client makes for itself, from which nothing is extracted
- `grounding`: the check that the turn says a candidate, and its date
- `filters`: secrets and instructions, which are never remembered
- `deduplication`: near-duplicates within a message
- `english/`: the rules of the language
"""
