"""`inferscale facts export` and `import`, without a model."""

import json
from pathlib import Path

import pytest

from tests.inferscale.memory.fact_command_builder import facts, json_of, known, teach

pytestmark = pytest.mark.usefixtures("data")


def test_facts_go_out_to_a_file_and_into_another_user_once(tmp_path: Path) -> None:
    teach("I live in Bonn.", "I ski \U0001f3bf.")
    file = tmp_path / "ann.json"
    assert facts("export", "--output", str(file)).exit_code == 0
    assert file.stat().st_mode & 0o077 == 0
    assert json.loads(file.read_text()) | {"exported_at": 0} == (
        json.loads(facts("export").stdout) | {"exported_at": 0}
    )
    assert json_of("import", str(file), user="bob") == {"added": 2, "known": 0, "left_out": 0}
    assert json_of("import", str(file), user="bob") == {"added": 0, "known": 2, "left_out": 0}
    assert known("bob") == ["I live in Bonn.", "I ski \U0001f3bf."]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "not JSON"),
        (b"\xff", "cannot be read"),
        (b'{"format": "inferscale-facts", "version": 99}', "version 99"),
    ],
)
def test_a_file_that_is_no_export_is_told_so(tmp_path: Path, content: bytes, said: str) -> None:
    file = tmp_path / "x.json"
    file.write_bytes(content)
    result = facts("import", str(file))
    assert result.exit_code == 2
    assert said in result.stderr
    assert "Traceback" not in result.stderr


def test_a_file_that_is_not_there_or_cannot_be_written_is_named(tmp_path: Path) -> None:
    missing = str(tmp_path / "no" / "x.json")
    for arguments in (("import", missing), ("export", "--output", missing)):
        result = facts(*arguments)
        assert result.exit_code == 2
        assert missing in result.stderr
