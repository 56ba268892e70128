"""A comparison of surfaces reports in words what was added, removed and changed."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.surface import files
from tests.surface.__main__ import main
from tests.surface.diff import Tree, differences, report
from tests.surface.interfaces import ANY, lost

OLD: Tree = {
    "rest": {
        "GET /runs": {"response 200": {"field": {"items[].id": {"type": "string"}}}, "problem codes": ["FORBIDDEN"]},
        "GET /runs/{ref}": {
            "response 200": {"field": {"errorMessage": {"type": "string"}}},
            "problem codes": ["A", "B"],
        },
    },
    "cli": {"duly serve": {"--port": {"default": 8080, "type": "integer"}}},
}


def changed(*path: str, to: Any = None) -> list[str]:
    """Return the report after the value at a path is replaced, or removed."""
    new = json.loads(json.dumps(OLD))
    place = new
    for name in path[:-1]:
        place = place[name]
    if to is None:
        del place[path[-1]]
    else:
        place[path[-1]] = to
    return report([*differences(OLD, new)])


def test_equal_surfaces_have_no_differences() -> None:
    assert [*differences(OLD, json.loads(json.dumps(OLD)))] == []


def test_a_removed_field_is_reported_with_its_type() -> None:
    assert changed("rest", "GET /runs/{ref}", "response 200", "field", "errorMessage") == [
        "removed: REST GET /runs/{ref} response 200 field errorMessage (type string)"
    ]


def test_a_changed_value_is_reported_with_both_values() -> None:
    assert changed("cli", "duly serve", "--port", "default", to=8081) == [
        "changed: CLI duly serve --port default 8080 -> 8081"
    ]


def test_an_added_command_is_reported_with_its_flags() -> None:
    assert changed("cli", "duly stop", to={"--now": {"type": "boolean"}, "NAME": {}}) == [
        "added: CLI duly stop (--now, NAME)"
    ]


def test_lists_are_compared_by_member_and_not_by_order() -> None:
    assert changed("rest", "GET /runs/{ref}", "problem codes", to=["B", "A"]) == []
    assert changed("rest", "GET /runs/{ref}", "problem codes", to=["B", "C"]) == [
        "added: REST GET /runs/{ref} problem codes C",
        "removed: REST GET /runs/{ref} problem codes A",
    ]


def test_a_difference_in_several_operations_is_reported_once() -> None:
    new = json.loads(json.dumps(OLD))
    for operation in new["rest"].values():
        operation["problem codes"].append("QUOTA_EXCEEDED")
    assert report([*differences(OLD, new)]) == [
        "added: REST GET /runs problem codes QUOTA_EXCEEDED",
        "    also: GET /runs/{ref}",
    ]


def test_an_interface_may_leave_a_value_open() -> None:
    fixed = {"duly serve": {"--port": {"default": ANY}}}
    assert [*lost(fixed, OLD["cli"])] == []
    assert [one.path for one in lost({"duly serve": {"--port": {"default": 80}, "--host": ANY}}, OLD["cli"])] == [
        ("duly serve", "--host"),
        ("duly serve", "--port", "default"),
    ]


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository: no surface in the first commit, one in each of the next two, another in the working tree."""
    folder = tmp_path / "tests" / "surface"
    monkeypatch.setattr(files, "ROOT", tmp_path)
    monkeypatch.setattr(files, "FOLDER", folder)
    folder.mkdir(parents=True)
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "commit", "--quiet", "--allow-empty", "--message", "Begin")
    for port in (8080, 8081, 8082):
        (folder / "cli.json").write_text(json.dumps({"duly serve": {"--port": {"default": port}}}), "utf-8")
        if port < 8082:
            git(tmp_path, "add", ".")
            git(tmp_path, "commit", "--quiet", "--message", f"Listen on {port}")
    return tmp_path


def git(folder: Path, *arguments: str) -> None:
    who = ("-c", "user.name=Ann", "-c", "user.email=ann@example.com")
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True)


@pytest.mark.processes
@pytest.mark.parametrize(
    "revisions, expected",
    [
        (["HEAD~1", "HEAD"], "changed: CLI duly serve --port default 8080 -> 8081"),
        (["HEAD"], "changed: CLI duly serve --port default 8081 -> 8082"),
        (["HEAD", "HEAD"], "no difference"),
    ],
)
def test_two_revisions_are_compared(repository: Path, revisions: list[str], expected: str) -> None:
    result = CliRunner().invoke(main, revisions)
    assert (result.exit_code, result.output) == (0, f"{expected}\n")


@pytest.mark.processes
@pytest.mark.parametrize("revision, expected", [("HEAD~2", "has no frozen surfaces"), ("nowhere", "nowhere")])
def test_a_revision_without_surfaces_is_refused(repository: Path, revision: str, expected: str) -> None:
    result = CliRunner().invoke(main, [revision])
    assert result.exit_code == 1
    assert expected in result.output
