"""Skips of tests whose program is not installed, and the closing line that says so."""

import os
import re
from collections import Counter
from collections.abc import Generator, Iterable
from typing import NoReturn

import pytest

REASON = re.compile(r"(\w+) is not installed \(apt-get install ([\w.-]+)\)")


def absent(program: str, package: str) -> NoReturn:
    """Skip on a person's machine, fail on CI: there a skipped test would be a hole."""
    message = f"{program} is not installed (apt-get install {package})"
    assert REASON.fullmatch(message)
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)


def untested(reasons: Iterable[str]) -> str:
    """One line about what these skips left untested and how to get it; "" without any."""
    found = Counter(match.groups() for match in map(REASON.search, reasons) if match)
    if not found:
        return ""
    counts = ", ".join(f"{n} for want of {program}" for (program, _), n in sorted(found.items()))
    packages = " ".join(sorted({package for _, package in found}))
    return f"Not tested: {counts}. To test it: sudo apt-get install -y {packages}"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter,
) -> Generator[None, None, None]:
    """End with what was not tested, behind pytest's own summary."""
    yield
    skipped = terminalreporter.stats.get("skipped", [])
    line = untested(str(report.longrepr) for report in skipped)
    if line:
        terminalreporter.write_line(line, yellow=True, bold=True)
