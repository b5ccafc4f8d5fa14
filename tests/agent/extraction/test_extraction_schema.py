"""The schema of an extraction is one that vLLM's grammar can enforce."""

import json

import xgrammar
from vllm.v1.structured_output.backend_xgrammar import has_xgrammar_unsupported_json_features
from xgrammar.testing import _is_grammar_accept_string

from agent.extraction.extraction_schema import ExtractionAnswer

SCHEMA = ExtractionAnswer.model_json_schema()
STATEMENT = {
    "quote": "I own {Rex} \U0001f436",
    "subject": "user",
    "name": "",
    "attribute": "none",
    "value": "Rex",
    "polarity": "affirmed",
    "kind": "transient",
    "time_expression": "",
}


def accepts(answer: str) -> bool:
    grammar = xgrammar.Grammar.from_json_schema(
        json.dumps(SCHEMA), any_whitespace=False, separators=(",", ":")
    )
    return bool(_is_grammar_accept_string(grammar, answer))


def of(*statements: dict[str, str]) -> str:
    return json.dumps({"statements": statements}, ensure_ascii=False, separators=(",", ":"))


def test_the_grammar_knows_every_feature_of_the_schema() -> None:
    """vllm: pattern or format together with a length is not enforced by xgrammar."""
    assert not has_xgrammar_unsupported_json_features(SCHEMA)


def test_the_grammar_lets_answers_pass_and_bounds_them() -> None:
    """mem0#4540, #3391, #2043: cut off, not valid, keys that are missing."""
    assert accepts(of())
    assert accepts(of(*[STATEMENT] * 8))
    assert not accepts(of(*[STATEMENT] * 9))
    assert not accepts(of(STATEMENT | {"quote": "a" * 301}))
    assert not accepts(of(STATEMENT | {"kind": "weather"}))
    assert not accepts(of({k: v for k, v in STATEMENT.items() if k != "value"}))
    assert not accepts(of() + of())


def test_a_bounded_string_holds_no_escapes() -> None:
    """letta#729. Why quotes are compared by their words."""
    assert not accepts(of(STATEMENT | {"quote": 'I own "Rex"'}))


def test_the_grammar_leaves_no_room_to_run_on_in_blanks() -> None:
    """vllm#38696, #42110."""
    assert not accepts('{"statements": []}')
    assert not accepts('{"statements":[]}\n\n')


def test_the_schema_bounds_the_answer() -> None:
    assert SCHEMA["properties"]["statements"]["maxItems"] == 8
    fields = SCHEMA["$defs"]["Statement"]["properties"]
    assert next(iter(fields)) == "quote"
    assert all(f.get("maxLength") or f.get("enum") for f in fields.values())
    assert SCHEMA["$defs"]["Statement"]["required"] == list(fields)
