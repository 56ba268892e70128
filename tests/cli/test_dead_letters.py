"""``duly run``: dead letters are listed, looked into, redriven and acknowledged, on each store and on a server."""

import asyncio
import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from duly import Duly
from duly.cli import main
from tests.api.conftest import let_die
from tests.client.serving import served
from tests.store_choice import EACH_STORE_AND_REST

UNKNOWN = "01890000-0000-7000-8000-000000000000"


class Place:
    """A store, and the command line on it."""

    def __init__(self, url: str, env: dict[str, str]) -> None:
        self.url = url
        self._env = env
        self._runner = CliRunner()

    def __call__(self, *arguments: str) -> Result:
        return self._runner.invoke(main, list(arguments), env=self._env, prog_name="duly")

    def json(self, *arguments: str) -> Any:
        done = self(*arguments, "-o", "json")
        assert done.exit_code == 0, done.stderr
        return json.loads(done.stdout)

    def let_die(self, job: str = "pay") -> str:
        return asyncio.run(self._let_die(job))

    async def _let_die(self, job: str) -> str:
        app = Duly(self.url)
        await app.open()
        try:
            return await let_die(app, job)
        finally:
            await app.close()


@pytest.fixture(params=EACH_STORE_AND_REST)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    url = f"sqlite:///{tmp_path / 'dead.db'}"
    with ExitStack() as stack:
        if request.param == "server":
            yield Place(url, {"DULY_API_URL": stack.enter_context(served(url))})
        else:
            url = url if request.param == "sqlite" else request.getfixturevalue("ready_postgres")
            yield Place(url, {"DULY_DATABASE_URL": url})


def test_dead_letters_are_listed_and_looked_into(place: Place) -> None:
    run_id = place.let_die()
    place.let_die("other")
    found = place.json("run", "list", "--dead", "--job", "pay", "--error", "no use", "--queue", "default")
    assert [item["id"] for item in found["items"]] == [run_id]
    assert place.json("run", "list", "--dead", "--tenant", "acme")["items"] == []
    assert "no dead letters" in place("run", "list", "--dead", "--error", "nothing like it").stderr
    shown = place("run", "get", run_id)
    assert "TRY  OUTCOME" in shown.stdout
    assert "1    failed" in shown.stdout
    assert place.json("run", "get", run_id)["attempts"][0]["errorMessage"] == "no use"


def test_one_run_is_redriven_as_it_is_or_with_another_payload(place: Place) -> None:
    same, other = place.let_die(), place.let_die()
    done = place("run", "redrive", same)
    assert (done.exit_code, done.stderr) == (0, f"redriven: run {same}\n")
    assert place.json("run", "get", same)["status"] == "pending"
    new = place.json("run", "redrive", other, "--payload", '{"cents": 5}')
    assert (new["redriveOf"], new["payload"]) == (other, {"cents": 5})
    old = place.json("run", "get", other)
    assert (old["status"], old["redrivenAs"]) == ("failed", new["id"])
    assert re.search(rf"redriven as +{new['id']}", place("run", "get", other).stdout)
    assert place("run", "redrive", UNKNOWN).exit_code == 3
    again = place("run", "redrive", other, "--payload", "{}")
    assert (again.exit_code, "was redriven already" in again.stderr) == (4, True)


def test_many_are_redriven_by_filter_and_asked_for_first(place: Place) -> None:
    pays = [place.let_die() for _ in range(3)]
    other = place.let_die("other")
    refused = place("run", "redrive", "--job", "pay")
    assert (refused.exit_code, "--yes" in refused.stderr) == (2, True)
    done = place.json("run", "redrive", "--job", "pay", "--error", "no use", "--yes")
    assert done == {"count": 3, "refused": [], "more": False}
    assert {place.json("run", "get", id)["status"] for id in pays} == {"pending"}
    assert [item["id"] for item in place.json("run", "list", "--dead")["items"]] == [other]


def test_many_are_acknowledged_by_id_or_all_at_once(place: Place) -> None:
    first, *_ = [place.let_die() for _ in range(3)]
    assert place("run", "acknowledge", first).exit_code == 0
    unknown = place("run", "acknowledge", UNKNOWN)
    assert (unknown.exit_code, "no such run" in unknown.stderr) == (3, True)
    told = place("run", "acknowledge", "--all", "--yes")
    assert (told.exit_code, told.stderr) == (0, "acknowledged 2 dead letters\n")
    assert place.json("run", "list", "--dead")["items"] == []
    assert place.json("run", "get", first)["acknowledgedAt"] is not None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("redrive",), "not clear"),
        (("redrive", UNKNOWN, "--all"), "not clear"),
        (("redrive", "--all", "--payload", "{}"), "--payload is for one run"),
        (("acknowledge", "--all", "--job", "pay"), "not clear"),
        (("list", "--error", "x"), "--dead"),
        (("list", "--dead", "--status", "failed"), "do not go together"),
    ],
)
def test_what_is_not_clear_is_refused(place: Place, arguments: tuple[str, ...], words: str) -> None:
    run_id = place.let_die()
    done = place("run", *arguments)
    assert (done.exit_code, words in done.stderr) == (2, True)
    assert [item["id"] for item in place.json("run", "list", "--dead")["items"]] == [run_id]
