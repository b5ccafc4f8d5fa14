"""The memory engine: facts as vectors to recall and as KV to inject. No SQL, no agent, no page.

In: an owner's active facts, a question, a history. Out: recalled facts, laid-out prompts and
generated text; the KV of recalled facts is injected instead of prefilled.

    memory.py       recall, layout, generation and encoding put together over one engine
    generator.py    generation from a laid-out prompt
    protocols.py    their interfaces, which the agent uses and fakes implement
    types.py        the values that pass between them
    errors.py       the tree of errors
    retrieval/      finds facts
    prompt/         lays out prompts
    encoding/       keeps the KV of facts resident
    engines/        run the model: in this process, elsewhere, several
    connector/      runs inside vLLM: stores KV and injects it
    families/       which model families pass the conformance gate
"""
