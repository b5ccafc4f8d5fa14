"""Programs that tests lack: installed where that is allowed, named at the end where not."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.readme import ROOT
from tests.absent_programs import absent, untested

SKIPPING = """
import pytest
from tests.absent_programs import absent

@pytest.mark.parametrize("n", range(3))
def test_page(n): absent("Chromium", "chromium")
def test_database(): absent("PostgreSQL", "postgresql")
def test_device(): pytest.skip("needs an NVIDIA GPU")
"""
TOOLS = ("bash", "dirname", "env")


def output_of(folder: Path, text: str) -> str:
    """The output of pytest over one file, outside CI."""
    (folder / "test_it.py").write_text(text)
    program = [sys.executable, "-m", "pytest", "-ra", "-p", "tests.absent_programs"]
    settings = ["-c", os.devnull, "-p", "no:cacheprovider", "--rootdir", str(folder), str(folder)]
    environment = {name: v for name, v in os.environ.items() if name != "CI"}
    environment |= {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([*program, *settings], env=environment, capture_output=True, text=True)
    return done.stdout


def test_the_end_says_in_one_line_what_was_not_tested_and_how_to_get_it(tmp_path: Path) -> None:
    *_, line, totals = output_of(tmp_path, SKIPPING).splitlines()
    assert line == (
        "Not tested: 3 for want of Chromium, 1 for want of PostgreSQL. "
        "To test it: sudo apt-get install -y chromium postgresql"
    )
    assert "5 skipped" in totals


def test_nothing_is_said_where_nothing_is_absent(tmp_path: Path) -> None:
    assert untested(["Skipped: needs an NVIDIA GPU"]) == ""
    assert "Not tested" not in output_of(tmp_path, "def test_it(): pass")


def test_an_absent_program_is_a_failure_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="Chromium is not installed"):
        absent("Chromium", "chromium")
    monkeypatch.delenv("CI")
    with pytest.raises(pytest.skip.Exception, match="Chromium is not installed"):
        absent("Chromium", "chromium")


def installing(
    folder: Path, *options: str, user: int, apt: str | None = "exit 0"
) -> subprocess.CompletedProcess[str]:
    """`scripts/test_packages` as that user, on a machine that has no programs but these."""
    for name in TOOLS:
        (folder / name).symlink_to(str(shutil.which(name)))
    fakes = {"id": f"echo {user}", "apt-get": apt and f'echo "apt-get $*" >&2\n{apt}'}
    for name, text in fakes.items():
        if text:
            (folder / name).write_text(f"#!/bin/bash\n{text}\n")
            (folder / name).chmod(0o755)
    return subprocess.run(
        [ROOT / "scripts" / "test_packages", *options],
        env={"PATH": str(folder)},
        capture_output=True,
        text=True,
    )


def test_root_installs_what_tests_drive_and_says_so(tmp_path: Path) -> None:
    done = installing(tmp_path, user=0)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^==> Installing .*chromium", done.stdout)
    assert re.search(r"^apt-get install .*chromium", done.stderr, re.MULTILINE)


@pytest.mark.parametrize(
    ("user", "apt"), [(1000, "exit 0"), (0, None), (0, "exit 100")], ids=["user", "no apt", "fails"]
)
def test_where_nothing_can_be_installed_tests_run_all_the_same(
    tmp_path: Path, user: int, apt: str | None
) -> None:
    done = installing(tmp_path, user=user, apt=apt)
    assert done.returncode == 0, done.stderr
    assert "apt-get install" not in done.stderr or apt == "exit 100"


@pytest.mark.parametrize(("user", "apt"), [(1000, "exit 0"), (0, "exit 100")])
def test_ci_ends_where_what_it_needs_cannot_be_installed(
    tmp_path: Path, user: int, apt: str
) -> None:
    done = installing(tmp_path, "--required", user=user, apt=apt)
    assert done.returncode != 0


def test_what_is_there_is_not_installed(tmp_path: Path) -> None:
    for name in ("google-chrome", "initdb"):
        (tmp_path / name).write_text("#!/bin/bash\n")
        (tmp_path / name).chmod(0o755)
    done = installing(tmp_path, user=0)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_makefile_and_ci_use_the_one_script() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipe = makefile[makefile.index("\ntest:") :].split("\n\n")[0]
    assert recipe.index("scripts/test_packages") < recipe.index("pytest")
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "scripts/test_packages --required" in ci
    assert ci.index("make lint") < ci.index("make test")
    assert "chromium" not in makefile + ci
