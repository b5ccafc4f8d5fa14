"""docs/commands.md: every command with its options, as Typer describes them."""

from scripts.pages.command_list import as_markdown, command_names


def test_every_command_has_a_heading() -> None:
    text = as_markdown()
    assert [name for name in command_names() if f"# `inferscale {name}`\n" not in text] == []


def test_options_say_what_they_are_without_the_user() -> None:
    text = as_markdown()
    assert "* `--repeats <int range>`: Measured turns of each mode.  [default: 3; x>=1]" in text
    assert "`--help`" not in text


def test_nothing_is_cut_off() -> None:
    lines = as_markdown().splitlines()
    assert [line for line in lines if line.startswith("* ") and line.endswith("...")] == []


def test_commands_of_groups_are_named_with_their_group() -> None:
    assert {"facts", "facts add", "serve", "graph"} <= set(command_names())
