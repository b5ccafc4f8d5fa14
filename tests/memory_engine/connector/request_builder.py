"""Builder of raw requests, as they reach the connector: not signed, and right or wrong."""

from memory_engine.connector.protocol.params import VERSION


def raw_request(op: object, owner: object, **fields: object) -> dict[str, object]:
    """The object under `KEY`, in the present version of the protocol."""
    return {"version": VERSION, "op": op, "owner": owner, **fields}
