"""Which model families KV injection serves: the conformance gate on a tiny model of each."""
