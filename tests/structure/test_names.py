"""Each name once, with one meaning; each test file where its module is."""

import re
from collections import Counter
from collections.abc import Iterable
from itertools import chain
from pathlib import PurePath

import pytest

from tests.structure.parsed_sources import (
    PRODUCT,
    REPOSITORY,
    Source,
    modules,
    refuse,
    snake_case,
    sources,
)

MIRRORED = (*PRODUCT, "scripts")
MANY_TIMES = {"__init__", "__main__", "conftest"}
ONE_CLASS = ("Span", "Scope")

# word -> use instead. Refused as a part of a file's or class's name.
RETIRED = {
    "account": "trace (of a reply), outcome (of a request); an account is a login",
    "told": "event, message, announced",
    "upkeep": "maintenance, bulk, backup",
    "knowledge": "facts",
    "stated": "statement",
    "extracted": "candidate",
    "transcript": "history, conversation",
    "holding": "pin, resident",
    "remembering": "remember worker",
    "shown": "reply accumulator",
    "stand_in": "fake",
    "gullible": "credulous fake",
    "played": "fake, scripted",
    "talking": "fake, builder",
    "sure": "fake, trusting",
}
# Refused as a whole name, for alone they say nothing; compounds of them may.
RETIRED_ALONE = {
    "known": "known facts",
    "turns": "running turns, chat turns",
    "record": "log, row, recorder",
    "records": "log, rows",
    "words": "the kind: stop words, secret words",
    "wording": "the kind: prompt wording, fact wording",
}
LOGINS = ("app/auth/", "tests/app/auth/", "agent/db/migrations/versions/")
LOGIN_NAMES = {
    "account_commands": "`inferscale accounts`",
    "test_account_commands": "`inferscale accounts`",
    "AccountRow": "its table",
}
# Tests of several modules, by their file's name without `test_`.
SEVERAL = {
    "test_story_real": "the story of README, with real vLLM",
    "test_ask_real": "`inferscale ask` over the real memory",
    "test_scopes": "scopes from the statement to the recall",
    "test_undo": "undoing from any change of facts",
    "test_fact_history": "the events of facts from any change",
    "test_expand": "each revision beside the code before it",
    "test_migrations": "all revisions on both databases",
    "test_kill": "processes that are killed anywhere",
    "test_processes": "two processes on one database",
    "test_load": "the API under load",
    "test_service_memory": "the service with the memory",
    "test_remote_service": "the service over remote engines",
    "test_command_line": "all commands",
    "test_cuda_graphs": "vLLM on a GPU",
    "test_endurance": "vLLM for a long time",
    "test_interleavings": "scheduler and worker in any order",
    "test_preemption": "vLLM when it preempts",
    "test_requests": "requests that vLLM must refuse",
    "test_speculation": "vLLM with speculative decoding",
    "test_store_fp8": "KV stored as fp8, from encode to reply",
    "test_tensor_parallel": "vLLM on two ranks",
    "test_page_isolation": "two users of one page",
    "test_last_exchange": "retry, edit and undo on the page",
    "test_side_by_side": "both modes of one question on the page",
    "test_stopped_turn": "a turn that is stopped or left",
    "test_denials": "denied attributes from the statement to the export",
    "test_embedded_process": "an engine in this process, on real vLLM",
    "test_fleet_real": "two engines behind the router, on real vLLM",
    "test_api_isolation": "two users of one API",
}
# `test_<module>_<aspect>` tests one module, or several with a real engine.
ASPECTS = ("real", "properties", "process", "isolation")


def repeated(of: Iterable[Source]) -> list[str]:
    """The file names that occur twice."""
    counts = Counter(each.stem for each in of)
    return sorted(name for name, n in counts.items() if n > 1 and name not in MANY_TIMES)


def retired(of: Iterable[Source]) -> list[str]:
    """The names of files and classes that use a retired word, and what to use instead."""
    found = []
    for source in of:
        for name in (source.stem, *(each.name for each in source.classes())):
            for word in _retired_in(snake_case(name).removeprefix("test_")):
                is_login = name in LOGIN_NAMES or source.path.startswith(LOGINS)
                if not (word == "account" and is_login):
                    use = (RETIRED | RETIRED_ALONE)[word]
                    found.append(f"{source.path}: {name}; instead of {word!r}: {use}")
    return found


def _retired_in(name: str) -> list[str]:
    plural = rf"(?:^|_)({'|'.join(RETIRED)})s?(?=_|$)"
    alone = [name] if name in RETIRED_ALONE else []
    return re.findall(plural, name) + alone


def homeless(tests: Iterable[Source], of: Iterable[Source]) -> list[str]:
    """The test files that mirror no module, and are not known as tests of several."""
    places = {each.path.removesuffix(".py") for each in of}
    found = []
    for source in modules(tests):
        path = PurePath(source.path)
        if path.parts[1] not in MIRRORED or not path.stem.startswith("test_"):
            continue
        names = [path.stem.removeprefix("test_")]
        names += [names[0].removesuffix(f"_{aspect}") for aspect in ASPECTS]
        mirror = PurePath(*path.parts[1:-1])
        if path.stem not in SEVERAL and not any(str(mirror / name) in places for name in names):
            found.append(source.path)
    return found


def test_no_file_name_occurs_twice() -> None:
    refuse(repeated(sources(*REPOSITORY)))


def test_no_name_uses_a_retired_word() -> None:
    refuse(retired(sources(*REPOSITORY)))


@pytest.mark.parametrize("name", ONE_CLASS)
def test_there_is_one_class_of_this_name(name: str) -> None:
    classes = chain.from_iterable(source.classes() for source in sources(*PRODUCT))
    assert sum(each.name == name for each in classes) == 1


def test_test_files_are_where_their_modules_are() -> None:
    refuse(homeless(sources("tests"), sources(*MIRRORED)))


def test_every_exception_is_needed() -> None:
    stems = {each.stem for each in sources("tests")}
    names = {each.name for each in chain.from_iterable(s.classes() for s in sources(*PRODUCT))}
    names |= {each.stem for each in sources(*REPOSITORY)}
    refuse(sorted(SEVERAL.keys() - stems) + sorted(LOGIN_NAMES.keys() - names))


def test_a_repeated_file_name_is_seen() -> None:
    names = ("app/x.py", "ui/x.py", "app/__init__.py", "ui/__init__.py")
    assert repeated(Source(name, "") for name in names) == ["x"]


@pytest.mark.parametrize(
    ("path", "text", "number"),
    [
        ("app/reply_accounts.py", "", 1),
        ("app/auth/accounts.py", "class Accounts: ...", 0),
        ("app/accountant.py", "", 0),
        ("app/x.py", "class StandInMemory: ...\nclass SureEngine: ...", 2),
        ("app/measured.py", "class Told: ...", 1),
        ("ui/turns.py", "class Turns: ...\nclass RunningTurns: ...", 2),
        ("tests/app/test_records.py", "", 1),
        ("agent/words.py", "", 1),
        ("agent/prompt_wording.py", "", 0),
    ],
)
def test_a_retired_word_is_seen(path: str, text: str, number: int) -> None:
    assert len(retired([Source(path, text)])) == number


def test_a_test_file_without_a_module_is_seen() -> None:
    product = [Source("app/api/chat.py", "")]
    names = ("app/api/test_chat", "app/api/test_chat_real", "app/api/test_load", "browser/test_it")
    lost = ("app/test_chat", "app/api/test_chats")
    tests = [Source(f"tests/{name}.py", "") for name in (*names, *lost, "app/api/builder")]
    assert homeless(tests, product) == [f"tests/{name}.py" for name in lost]
