"""Facts: candidates come in, the facts known of a user go out, and forgotten ones are gone.

In reading order:

- `fact_store`: facts in SQL, and the one place where candidates are reconciled and saved
- `reconcile`, `known_facts`: the changes that candidates make to known facts
- `fact_rows`: rows inserted, ended, emptied and read
- `memory_sync`: the memory engine's copy of a user's facts
- `fact_embeddings`, `reindex`: their vectors, stored and computed again
- `fact_manager`, `manual_facts`: changes by hand
- `undo`, `forgetting`, `expiry`: the ways in which facts come back and go
- `erasure_audit`: proof that nothing forgotten is left
- `transfer/`: export and import
"""
