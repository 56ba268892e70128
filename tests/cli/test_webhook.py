"""``duly webhook``: made with a secret that is shown once, changed, tried and ended; on a store and on a server."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from tests.cli.conftest import Duly
from tests.client.serving import served

URL = "https://example.com/duly"


def answer(done: Result) -> Any:
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def go_through(duly: Duly, *reach: str) -> None:
    made = duly(*reach, "webhook", "create", URL, "-e", "run.failed", "--tag", "money", "--job", "report")
    secret = made.stdout.strip()
    assert secret.startswith("whsec_")
    assert secret not in made.stderr
    (kept,) = answer(duly(*reach, "webhook", "list", "-o", "json"))["items"]
    assert (kept["url"], kept["events"], kept["tag"], kept["jobType"]) == (URL, ["run.failed"], "money", "report")
    assert "good" in duly(*reach, "webhook", "list").stdout
    id = kept["id"]
    changed = answer(
        duly(*reach, "webhook", "update", id, "--disable", "--tag", "", "-e", "run.completed", "-o", "json")
    )
    assert (changed["enabled"], changed["tag"], changed["events"]) == (False, None, ["run.completed"])
    assert "disabled" in duly(*reach, "webhook", "get", id).stdout
    assert answer(duly(*reach, "webhook", "test", id, "-o", "json"))["jobType"] == "webhook:event"
    fresh = duly(*reach, "webhook", "rotate", id, "--keep-seconds", "60").stdout.strip()
    assert fresh.startswith("whsec_")
    assert fresh != secret
    for words in (("list",), ("get", id), ("list", "-o", "json")):
        assert "whsec" not in duly(*reach, "webhook", *words).stdout
    assert duly(*reach, "webhook", "delete", id, "--yes").exit_code == 0
    gone = duly(*reach, "webhook", "get", id)
    assert (gone.exit_code, "no webhook with id" in gone.stderr) == (3, True)


def test_on_a_store(on_store: Duly) -> None:
    go_through(on_store)


def test_on_a_server(duly: Duly, tmp_path: Path) -> None:
    with served(f"sqlite:///{tmp_path / 'x.db'}") as url:
        go_through(duly, "--server", url)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((URL,), "events"),
        ((URL, "-e", "run.exploded"), "run.exploded"),
        (("http://10.0.0.1/", "-e", "run.failed"), "expected the https URL of a public host"),
        ((URL, "--heartbeat", "-e", "run.failed"), "heartbeat"),
        ((URL, "-e", "run.failed", "--schedule", "none"), "there is none with that id or key"),
    ],
)
def test_what_is_wrong_is_told(on_store: Duly, words: tuple[str, ...], said: str) -> None:
    done = on_store("webhook", "create", *words)
    assert done.exit_code == 2, done.stderr
    assert said in done.stderr
