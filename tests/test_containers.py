"""The container files agree with the repository and with one another."""

import json
import re
import shlex
import subprocess
import tomllib
from fnmatch import fnmatch
from typing import Any

import pytest
import yaml
from typer.main import get_command

from app.api.operations import router
from app.auth.sign_in import COOKIE
from app.models import family_report as families
from app.settings import PREFIX, Settings
from inferscale.commands import app
from scripts.readme import ROOT

DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
SETUP = (ROOT / "scripts" / "setup").read_text(encoding="utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
# Which Python a release of Debian has.
PYTHON_OF_DEBIAN = {"12": "3.11", "13": "3.13"}


def instructions(word: str) -> list[str]:
    """The arguments of each such instruction of the Dockerfile, its lines joined."""
    joined = re.sub(r"\\\n\s*", " ", DOCKERFILE)
    return [
        line.removeprefix(word).strip() for line in joined.splitlines() if line.startswith(word)
    ]


def environment() -> dict[str, str]:
    return dict(each.split("=", 1) for line in instructions("ENV") for each in shlex.split(line))


def let_through() -> list[str]:
    """The tracked files that .dockerignore lets into the image."""
    rules = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    allowed = [rule[1:] for rule in rules if rule.startswith("!")]
    assert "*" in rules
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return [
        name
        for name in listed.stdout.splitlines()
        if any(name.startswith(f"{rule}/") or fnmatch(name, rule) for rule in allowed)
    ]


def test_debians_python_is_one_that_the_project_allows() -> None:
    (release,) = re.findall(r"^FROM debian:(\d+)\.", DOCKERFILE, re.MULTILINE)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (least, below) = re.findall(r"3\.(\d+)", project["requires-python"])
    minor = int(PYTHON_OF_DEBIAN[release].split(".")[1])
    assert int(least) <= minor < int(below)


def test_stages_are_the_targets_that_compose_builds() -> None:
    stages = re.findall(r"^FROM \S+ AS (\S+)", DOCKERFILE, re.MULTILINE)
    cuda = yaml.safe_load((ROOT / "compose.cuda.yaml").read_text(encoding="utf-8"))
    assert COMPOSE["x-common"]["build"]["target"] in stages
    assert cuda["x-engine"]["build"]["target"] in stages
    assert stages[-1] == "cpu", "`docker build .` builds the last stage"
    assert set(cuda["services"]) <= set(SERVICES)


def test_what_is_copied_and_installed_is_in_the_repository() -> None:
    copied = [line.split() for line in instructions("COPY") if not line.startswith("--from")]
    for source, _ in copied:
        assert (ROOT / source).exists(), source
    for name in re.findall(r"requirements/[\w.]+", DOCKERFILE):
        assert (ROOT / name).exists(), name


def test_installers_are_those_of_the_setup_script() -> None:
    (version,) = re.findall(r"^UV_VERSION=(\S+)", SETUP, re.MULTILINE)
    (index,) = re.findall(r"^PYTORCH_CPU_INDEX=(\S+)", SETUP, re.MULTILINE)
    assert f"uv=={version}" in DOCKERFILE
    assert f"PYTORCH_CPU_INDEX={index}" in DOCKERFILE


def test_images_hold_all_that_runs_and_nothing_else() -> None:
    files = let_through()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for package in project["tool"]["setuptools"]["packages"]["find"]["include"]:
        folder = package.removesuffix(".*").replace(".", "/")
        assert any(name.startswith(f"{folder}/") for name in files), package
    needed = [families.KNOWN.relative_to(ROOT).as_posix(), "README.md", "LICENSE"]
    assert set(needed) <= set(files)
    assert any(name.startswith("agent/db/migrations/versions/") for name in files)
    assert not [n for n in files if n.startswith(("tests/", "scripts/", ".git", "docs/images/"))]


def test_images_do_not_run_as_root_and_are_asked_whether_they_answer() -> None:
    assert instructions("USER") == ["10001"] * 2
    assert "--uid 10001" in DOCKERFILE
    (check,) = instructions("HEALTHCHECK")
    program = json.loads(check[check.index("[") :])
    paths = {getattr(route, "path", "") for route in router.routes}
    assert [path for path in paths if path in program[-1]] == ["/healthz"]
    default = Settings.model_fields["port"].default
    assert instructions("EXPOSE") == [str(default)]
    assert f"'{default}'" in program[-1]


def test_the_image_sets_settings_that_there_are() -> None:
    named = {name: value for name, value in environment().items() if name.startswith(PREFIX)}
    assert {name.removeprefix(PREFIX).lower() for name in named} <= set(Settings.model_fields)
    assert named["INFERSCALE_AUTH"] == "accounts"
    assert instructions("VOLUME") == [named["INFERSCALE_DATA_DIR"]]


@pytest.mark.parametrize("name", SERVICES)
def test_images_of_services_are_pinned_or_built(name: str) -> None:
    image = SERVICES[name]["image"]
    assert "build" in SERVICES[name] or re.search(r":v?\d+\.\d+", image), image


def test_what_services_read_from_the_repository_is_there() -> None:
    for name, service in SERVICES.items():
        for volume in service.get("volumes", ()):
            source = volume.split(":")[0]
            if source.startswith("./") and source != "./models":
                assert (ROOT / source).exists(), f"{name}: {source}"
            elif not source.startswith("./"):
                assert source in COMPOSE["volumes"], f"{name}: {source}"


def test_proxy_prometheus_and_apps_name_services_and_their_ports() -> None:
    proxy = (ROOT / "ops" / "nginx" / "inferscale.conf").read_text(encoding="utf-8")
    apps = [name for name in SERVICES if name.startswith("app-")]
    engines = [f"{name}:8001" for name in SERVICES if name.startswith("engine-")]
    port = Settings.model_fields["port"].default
    assert re.findall(r"server (\S+):(\d+)", proxy) == [(name, str(port)) for name in apps]
    scraped = yaml.safe_load((ROOT / "ops/prometheus/prometheus.yml").read_text(encoding="utf-8"))
    targets = [job["static_configs"][0]["targets"] for job in scraped["scrape_configs"]]
    assert targets == [[f"{name}:{port}" for name in apps], engines]
    for name in apps:
        asked = SERVICES[name]["environment"]
        urls = [f"http://{engine}" for engine in engines]
        assert asked["INFERSCALE_ENGINES"].split(",") == urls
        assert asked["INFERSCALE_ROUTER"] == "http://router:8000"
    words = SERVICES["router"]["command"]
    assert words[words.index("--worker-urls") + 1 :][: len(engines)] == urls
    assert f"$cookie_{COOKIE}" in proxy


@pytest.mark.parametrize("name", SERVICES)
def test_services_run_commands_and_read_settings_that_there_are(name: str) -> None:
    service = SERVICES[name]
    if not service["image"].startswith("inferscale"):
        return
    program, *words = service["command"]
    if program == "inferscale":
        assert words[0] in get_command(app).commands  # type: ignore[attr-defined]
    given = service.get("environment", {})
    named = {each.removeprefix(PREFIX).lower() for each in given if each.startswith(PREFIX)}
    assert named <= set(Settings.model_fields)


def test_nobody_but_this_machine_reaches_what_compose_publishes() -> None:
    published = [port for service in SERVICES.values() for port in service.get("ports", ())]
    assert len(published) == 2
    assert all(re.match(r"\$\{\w+:-127\.0\.0\.1:\d+\}:\d+$", port) for port in published)


def test_secrets_have_no_default() -> None:
    text = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    for name in ("POSTGRES_PASSWORD", "INFERSCALE_SIGNING_KEY", "GRAFANA_PASSWORD"):
        uses = re.findall(rf"\$\{{{name}(.)(.)", text)
        assert uses, name
        assert set(uses) == {(":", "?")}
