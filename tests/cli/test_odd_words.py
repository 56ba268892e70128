"""What a person may hand over by mistake: bytes that are no text, names of dots, places that cannot be entered."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Duly, Spawn
from tests.client.serving import served
from tests.databases import ready_file

NO_TEXT = "\udcff"
"""How Python shows a program the byte 0xff of its command line."""


@pytest.mark.parametrize(
    "arguments",
    [
        ["schedule", "list"],
        ["doctor"],
        ["db", "status"],
        ["db", "migrate"],
        ["schedule", "create", "k", "--every", "1h", "--job", "j"],
        ["scheduler"],
    ],
)
@pytest.mark.parametrize("denied", [True, False])
def test_a_place_that_cannot_be_looked_at_is_configuration(
    duly: Duly, monkeypatch: pytest.MonkeyPatch, arguments: list[str], denied: bool
) -> None:
    def is_dir(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    if denied:
        monkeypatch.setattr("duly.store.sqlite.connecting.Path.is_dir", is_dir)
    name = "x.db" if denied else "x" * 300
    done = duly(*arguments, "--database-url", f"sqlite:///{name}")
    told = done.stdout if arguments == ["doctor"] else done.stderr
    assert "cannot be looked at: " + ("Permission denied" if denied else "File name too long") in told
    assert done.exit_code == (1 if arguments == ["doctor"] else 78)


def test_a_file_that_cannot_be_looked_at_is_no_surprise(duly: Duly) -> None:
    for arguments in (["import", "crontab", "x" * 300], ["schedule", "apply", "-f", "x" * 300]):
        done = duly(*arguments)
        assert (done.exit_code, "unforeseen" in done.stderr) == (2, False)


@pytest.mark.parametrize(
    "arguments, code",
    [
        (["schedule", "get", NO_TEXT], 3),
        (["schedule", "list", "--tag", NO_TEXT], 2),
        (["schedule", "list", "--search", NO_TEXT], 2),
        (["schedule", "create", NO_TEXT, "--every", "1h", "--job", "j"], 2),
        (["schedule", "create", "k", "--every", "1h", "--job", "j", "--name", NO_TEXT], 2),
        (["schedule", "create", "k", "--every", "1h", "--job", "j", "--payload", f'"{NO_TEXT}"'], 2),
        (["schedule", "create", "k", "--every", "1h", "--target", f'"{NO_TEXT}"'], 2),
        (["schedule", "get", ""], 3),
        (["schedule", "get", "."], 3),
        (["schedule", "get", ".."], 3),
        (["schedule", "pause", ".."], 3),
        (["run", "get", "."], 3),
        (["operation", "get", ".."], 3),
        (["calendar", "get", ".."], 3),
        (["workflow", "signal", "..", "go"], 3),
    ],
)
def test_odd_words_get_the_same_exit_code_everywhere(anywhere: Duly, arguments: list[str], code: int) -> None:
    done = anywhere(*arguments)
    assert done.exit_code == code, done.stderr
    assert "unforeseen" not in done.stderr


def test_a_wrong_path_in_the_url_of_a_server_is_not_an_unknown_id(duly: Duly, tmp_path: Path) -> None:
    with served(f"sqlite:///{ready_file(tmp_path, 'served.db')}") as url:
        wrong = duly("schedule", "get", "k", "--server", f"{url}/nowhere")
        unknown = duly("schedule", "get", "k", "--server", url)
    assert (wrong.exit_code, unknown.exit_code) == (78, 3)
    assert "is the URL right" in wrong.stderr


def test_what_the_terminal_has_no_character_for_is_escaped(spawn: Spawn) -> None:
    create = ("schedule", "create", "k", "--every", "1h", "--job", "j", "--name", "☕ 🕐")
    done = spawn(*create, "-o", "json", env={"PYTHONIOENCODING": "latin-1"})
    assert done.returncode == 0, done.stderr
    assert "\\u2615 \\ud83d\\udd50" in done.stdout
    assert json.loads(done.stdout)["name"] == "☕ 🕐"
