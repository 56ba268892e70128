"""What ``deploy/`` says is what the program does: commands, ports, probes, variables and times are looked up."""

import configparser
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from duly.app import Duly
from duly.config import Settings, load
from duly.telemetry.metrics import Metrics
from tests.counting import at_least
from tests.docs.commands import check_command

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
KUBERNETES = at_least(sorted((DEPLOY / "kubernetes").glob("*.yaml")), 2, "Kubernetes files")
SHUTDOWN = Settings().shutdown_timeout


def documents() -> Iterator[dict[str, Any]]:
    for path in KUBERNETES:
        yield from yaml.safe_load_all(path.read_text())


def containers() -> Iterator[dict[str, Any]]:
    for document in documents():
        pod = document.get("spec", {}).get("template", {}).get("spec", {})
        yield from pod.get("initContainers", []) + pod.get("containers", [])


def health_paths() -> set[str]:
    from duly.api.health import Health

    return set(Health(Duly("sqlite:///:memory:"), Metrics()).answers)


def test_commands_are_commands() -> None:
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    commands = [service["command"] for service in compose["services"].values() if "command" in service]
    commands += [container["args"] for container in containers()]
    unit = re.search(r"^ExecStart=\S+/duly (.*)$", (DEPLOY / "systemd" / "duly.service").read_text(), re.M)
    image = re.search(r'^CMD \["(\w+)"\]$', (DEPLOY / "Dockerfile").read_text(), re.M)
    assert unit is not None
    assert image is not None
    commands += [unit[1].split(), [image[1]]]
    assert len(commands) >= 7
    for command in commands:
        check_command(list(command))


def test_variables_are_read() -> None:
    texts = [path.read_text() for path in (*KUBERNETES, DEPLOY / "compose.yaml", DEPLOY / "Dockerfile")]
    named = {name for text in texts for name in re.findall(r"\bDULY_[A-Z_]+", text)}
    assert {"DULY_DATABASE_URL", "DULY_API_HOST", "DULY_LOG_FORMAT"} <= named
    known = {"DULY_DATABASE_URL": "sqlite:///x.db", "DULY_API_HOST": "0.0.0.0", "DULY_LOG_FORMAT": "json"}
    known["DULY_API_ALLOWED_HOSTS"] = "localhost"
    loaded = load(environment={name: known[name] for name in named}, folder=Path("/nonexistent"))
    assert loaded["api.host"] == "0.0.0.0"
    assert loaded["log.format"] == "json"


def test_compose_is_closed_to_foreign_names_and_says_how_to_create_the_first_key() -> None:
    text = (DEPLOY / "compose.yaml").read_text()
    services = {name: one for name, one in yaml.safe_load(text)["services"].items() if "build" in one}
    for name, service in at_least(services, 2, "instances").items():
        assert name in service["environment"]["DULY_API_ALLOWED_HOSTS"].split(",")
        assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    (command,) = re.findall(r"exec duly-1 duly (key create .*)", text)
    check_command(command.split())


def test_probes_and_ports_are_answered() -> None:
    port = load(environment={}, folder=Path("/nonexistent"))["api.port"]
    probed = [
        container[probe]["httpGet"]
        for container in containers()
        for probe in ("livenessProbe", "readinessProbe", "startupProbe")
        if probe in container
    ]
    assert {probe["path"] for probe in probed} == {"/livez", "/readyz"}
    assert {probe["path"] for probe in probed} <= health_paths()
    assert [p["containerPort"] for c in containers() for p in c.get("ports", [])] == [port]
    image = (DEPLOY / "Dockerfile").read_text()
    assert f"EXPOSE {port}" in image
    assert f"127.0.0.1:{port}/readyz" in image


def test_everything_waits_longer_for_the_end_than_handlers_are_given() -> None:
    graces = [d["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] for d in documents()
              if d["kind"] == "Deployment"]  # fmt: skip
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    graces += [int(s["stop_grace_period"].rstrip("s")) for s in compose["services"].values()
               if "stop_grace_period" in s]  # fmt: skip
    unit = re.search(r"TimeoutStopSec=(\d+)s", (DEPLOY / "systemd" / "duly.service").read_text())
    assert unit is not None
    graces.append(int(unit[1]))
    assert len(graces) >= 4
    assert min(graces) > SHUTDOWN + 5


def test_pods_are_given_neither_a_token_nor_variables_that_look_like_settings() -> None:
    pods = [one["spec"]["template"]["spec"] for one in documents() if "template" in one.get("spec", {})]
    assert [(pod["automountServiceAccountToken"], pod["enableServiceLinks"]) for pod in pods] == [(False, False)] * 2


def test_selectors_find_their_pods() -> None:
    found = {document["kind"]: document for document in documents()}
    labels = found["Deployment"]["spec"]["template"]["metadata"]["labels"]
    for selector in (
        found["Deployment"]["spec"]["selector"]["matchLabels"],
        found["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"],
        found["Service"]["spec"]["selector"],
    ):
        assert selector.items() <= labels.items()
    assert (
        not found["Service"]["spec"]["selector"].items()
        <= found["Job"]["spec"]["template"]["metadata"]["labels"].items()
    )
    pods = at_least(list(containers()), 3, "containers")
    assert all(container["securityContext"]["allowPrivilegeEscalation"] is False for container in pods)


def test_the_image_copies_what_is_there() -> None:
    text = (DEPLOY / "Dockerfile").read_text()
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = [word for line in re.findall(r"^COPY (?!--from)(.*) \S+$", text, re.M) for word in line.split()]
    assert {"src", "pyproject.toml", "requirements/serve.txt"} <= set(copied)
    for source in copied:
        assert (ROOT / source).exists(), source
        assert source in kept, f".dockerignore leaves {source} out"


@pytest.mark.processes
def test_the_unit_is_read_by_systemd(tmp_path: Path) -> None:
    path = DEPLOY / "systemd" / "duly.service"
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read(path)
    assert unit["Service"]["Type"] == "notify"
    assert unit["Service"]["RestartPreventExitStatus"].split() == ["2", "78"]
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd-analyze is not on this machine")
    # It looks for the program, which is not installed where the unit expects it.
    copied = tmp_path / "duly.service"
    copied.write_text(re.sub(r"ExecStart=\S+", "ExecStart=/bin/true", path.read_text()))
    said = subprocess.run([analyze, "verify", copied], capture_output=True, text=True, timeout=60, check=False)
    assert "duly.service:" not in said.stderr, said.stderr
