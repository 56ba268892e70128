"""Workflows and hooks only call scripts of this repository, and cover what SUPPORT.md promises."""

import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.servers import NAMES

ROOT = Path(__file__).parents[2]
WORKFLOWS = {path.name: yaml.safe_load(path.read_text("utf-8")) for path in (ROOT / ".github/workflows").glob("*.yml")}
JOBS = {(file, name): job for file, workflow in WORKFLOWS.items() for name, job in workflow["jobs"].items()}
STEPS = [(file, job, step) for (file, job), content in JOBS.items() for step in content["steps"]]
COMMANDS = [(file, job, step["run"]) for file, job, step in STEPS if "run" in step]
HOOKS = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"]
CHECKS = re.findall(r"^check (\w+) ", (ROOT / "scripts" / "check").read_text("utf-8"), re.MULTILINE)


def test_all_workflows_are_seen() -> None:
    assert set(WORKFLOWS) == {"ci.yml", "docs.yml", "nightly.yml", "release.yml"}
    assert (len(JOBS), len(COMMANDS)) == (12, 14)


@pytest.mark.parametrize(("file", "job", "command"), COMMANDS, ids=lambda value: str(value))
def test_each_command_is_one_call_of_a_script(file: str, job: str, command: str) -> None:
    script, *arguments = shlex.split(command)
    assert os.access(ROOT / script, os.X_OK), f"{file}, {job}: {script} is not a script of this repository"
    assert re.fullmatch(r"(scripts|\.ci)/[a-z-]+", script)
    assert not re.search(r"[;&|<>`\n]|\$\{\{", command), "a workflow decides nothing; write it in the script"
    for argument in arguments:
        assert "/" not in argument or "$" in argument or (ROOT / argument).exists(), argument


def test_each_action_is_pinned_to_a_commit_with_its_version() -> None:
    used = [
        line.partition("uses:")[2].strip()
        for file in WORKFLOWS
        for line in (ROOT / ".github/workflows" / file).read_text("utf-8").splitlines()
        if "uses:" in line
    ]
    assert len(used) == len([step for _, _, step in STEPS if "uses" in step]) >= 20
    assert [one for one in used if not re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", one)] == []
    assert len({one.partition("@")[0] for one in used}) == len(set(used)), "an action is used in two versions"


def test_no_workflow_has_rights_that_a_job_does_not_ask_for() -> None:
    assert [file for file, workflow in WORKFLOWS.items() if workflow["permissions"] != {}] == []
    writing = {
        (file, job): right
        for (file, job), content in JOBS.items()
        for right, kind in content["permissions"].items()
        if kind == "write" and right == "contents"
    }
    assert writing == {("release.yml", "publish"): "contents"}


def test_ci_covers_every_python_with_sqlite_and_every_postgresql() -> None:
    def matrix(job: str) -> dict[str, Any]:
        return dict(JOBS["ci.yml", job]["strategy"]["matrix"])

    pythons = ["3.11", "3.12", "3.13", "3.14"]
    assert matrix("sqlite") == matrix("package") == {"python": pythons}
    assert matrix("postgres") == {"python": pythons, "postgres": ["13", "14", "15", "16", "17", "18"]}
    assert "| PostgreSQL | 13 to 18," in (ROOT / "SUPPORT.md").read_text("utf-8")


def test_ci_names_servers_as_the_tests_do() -> None:
    variables = [step.get("env", {}) for file, _, step in STEPS if file == "ci.yml"]
    chosen = [
        sorted(f"{env.get('DULY_TEST_REQUIRE', '')},{env['DULY_TEST_WITHOUT']}".strip(",").split(","))
        for env in variables
        if "DULY_TEST_WITHOUT" in env
    ]
    assert chosen == [sorted(NAMES)] * 2, "each server is either required or left out"


def test_each_check_is_a_hook() -> None:
    (local,) = HOOKS
    assert local["repo"] == "local"
    assert len(CHECKS) >= 6
    assert {hook["id"]: hook["entry"] for hook in local["hooks"]} == {name: f"scripts/check {name}" for name in CHECKS}


@pytest.mark.processes
def test_check_refuses_a_name_that_it_does_not_know(tmp_path: Path) -> None:
    """With stand-ins for the programs, so that only the choice of checks is tried."""
    for name in ("scripts/check", "requirements/test.txt", "pyproject.toml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    (tmp_path / "scripts/_env.sh").write_text('say() { echo "$0: $*" >&2; }\ninstall_lock() { venv=.; }\n')
    for name in ("bin/ruff", "scripts/docs"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)

    def check(*names: str) -> "subprocess.CompletedProcess[str]":
        command = ["sh", "scripts/check", *names]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)

    chosen = check("docs", "lint")
    assert (chosen.returncode, chosen.stdout) == (0, "== lint\n== docs\nall checks passed\n")
    unknown = check("lint", "lnt")
    assert unknown.returncode == 2
    assert "there is no check named lnt" in unknown.stderr
