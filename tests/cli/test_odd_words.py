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


def test_a_command_does_not_pretend_to_keep_anything_in_memory(duly: Duly) -> None:
    memory = ("--database-url", "sqlite:///:memory:")
    done = duly("schedule", "create", "k", "--every", "1h", "--job", "j", *memory)
    assert (done.exit_code, done.stdout) == (78, "")
    assert "a database in memory is gone with this command" in done.stderr
    assert duly("schedule", "preview", "--every", "1h", *memory).exit_code == 0


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["schedule", "list", "--server", ""], "--server is"),
        (["schedule", "list", "--server", "http://127.0.0.1:1", "--token", "a\nb"], "--token is not usable"),
        (["schedule", "create", "k", "--every", "1h", "--target", "kind"], """--target '{"kind": "queue", """),
        (["serve", "--port", "99999"], "--port is 99999; expected a whole number 0-65535"),
    ],
)
def test_a_refusal_names_the_flag_that_was_given(duly: Duly, arguments: list[str], said: str) -> None:
    done = duly(*arguments)
    assert (done.exit_code, said in done.stderr) == (2, True), done.stderr


def test_config_show_names_the_flag_that_was_given(duly: Duly) -> None:
    done = duly("config", "show", "--server", "http://127.0.0.1:1", "--token", "t", "-o", "json")
    told = json.loads(done.stdout)
    assert (told["api.url"]["origin"], told["api.key"]["origin"]) == ("flag --server", "flag --token")


def test_everything_that_is_wrong_is_told(anywhere: Duly) -> None:
    done = anywhere("schedule", "create", "x")
    assert "see errors" not in done.stderr
    assert "no timing was given; expected exactly one of --cron, --every" in done.stderr
    assert "expected exactly one of --job, --workflow, --topic, --target" in done.stderr
    assert "--search is" in anywhere("schedule", "list", "--search", NO_TEXT).stderr


def test_a_file_is_told_of_in_its_own_words(anywhere: Duly, tmp_path: Path) -> None:
    file = tmp_path / "body.json"
    file.write_text('{"key": "x", "cron": "* * * * *", "jobType": "j"}')
    assert (
        "'cron' is not known here; did you mean cronExpression?"
        in anywhere("schedule", "create", "-f", str(file)).stderr
    )


def test_an_update_takes_the_file_that_the_schedule_was_made_from(anywhere: Duly, tmp_path: Path) -> None:
    file = tmp_path / "body.json"
    file.write_text('{"key": "x", "everyMs": 60000, "jobType": "j", "name": "one"}')
    made = json.loads(anywhere("schedule", "create", "-f", str(file), "-o", "json").stdout)
    file.write_text('{"key": "x", "everyMs": 60000, "jobType": "j", "name": "two"}')
    for ref in ("x", made["id"]):
        assert json.loads(anywhere("schedule", "update", ref, "-f", str(file), "-o", "json").stdout)["name"] == "two"
    file.write_text('{"key": "y", "name": "three"}')
    refused = anywhere("schedule", "update", "x", "-f", str(file))
    assert (refused.exit_code, "a key cannot be changed" in refused.stderr, "PUT" in refused.stderr) == (2, True, False)


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
