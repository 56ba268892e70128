"""``duly key``: made and shown once, rotated, revoked; on a store and on a server."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from tests.cli.conftest import Duly
from tests.client.serving import served


def answer(done: Result) -> Any:
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def test_a_key_is_printed_once_and_listed_without_itself(on_store: Duly) -> None:
    done = on_store("key", "create", "--name", "u42", "--owner", "user-42", "--tenant", "acme", "--expires", "90d")
    key = done.stdout.strip()
    assert key.startswith("duly_live_")
    assert len(key) == 61
    assert "shown now and never again" in done.stderr
    assert key not in done.stderr
    (kept,) = answer(on_store("key", "list", "-o", "json"))["items"]
    assert (kept["name"], kept["owner"], kept["tenant"]) == ("u42", "user-42", "acme")
    assert kept["scopes"] == ["read", "trigger", "write"]
    assert kept["id"] == key[10:18]
    assert "key" not in kept
    assert "good, ends in 89 d" in on_store("key", "list").stdout


def test_a_key_is_rotated_and_revoked(on_store: Duly) -> None:
    made = answer(on_store("key", "create", "--name", "ci", "--max-schedules", "5", "-o", "json"))
    assert made["quotas"]["schedules"] == 5
    new = answer(on_store("key", "rotate", made["id"], "--keep", "1h", "-o", "json"))
    assert (new["replaces"], new["quotas"], new["owner"]) == (made["id"], made["quotas"], "ci")
    assert on_store("key", "revoke", made["id"], "--yes").exit_code == 0
    assert "revoked" in on_store("key", "list").stdout
    assert on_store("key", "rotate", made["id"]).exit_code == 4
    gone = on_store("key", "revoke", "nobody", "--yes")
    assert (gone.exit_code, "no key with id 'nobody'" in gone.stderr) == (3, True)


def test_a_workers_key_is_for_the_queues_that_it_was_made_for(on_store: Duly) -> None:
    done = on_store("key", "create", "--name", "gpu", "--scopes", "worker", "--queues", "gpu, video", "-o", "json")
    assert answer(done)["queues"] == ["gpu", "video"]
    assert "queues gpu, video" in done.stderr


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--scopes", "worker,read"), "worker beside others"),
        (("--scopes", "all"), "scopes"),
        (("--queues", "mail"), "without the scope worker"),
        (("--expires", "soon"), "--expires is 'soon'"),
        (("--expires", "2020-01-01T00:00:00Z"), "gone by"),
    ],
)
def test_what_is_wrong_is_told_and_makes_nothing(duly: Duly, tmp_path: Path, flags: tuple[str, ...], said: str) -> None:
    url = f"sqlite:///{tmp_path / 'none.db'}"
    done = duly("--database-url", url, "key", "create", "--name", "x", *flags)
    assert done.exit_code == 2
    assert said in done.stderr


def test_a_server_asks_for_a_key_and_a_command_without_a_good_one_ends_with_77(duly: Duly, tmp_path: Path) -> None:
    with served(f"sqlite:///{tmp_path / 'x.db'}") as url:
        key = duly("--server", url, "key", "create", "--name", "ops", "--scopes", "admin").stdout.strip()
        made = duly("--server", url, "--token", key, "key", "create", "--name", "r", "--scopes", "read")
        reader = made.stdout.strip()
        refused = duly("--server", url, "schedule", "list")
        assert (refused.exit_code, "DULY_API_KEY" in refused.stderr) == (77, True)
        assert duly("schedule", "list", env={"DULY_API_URL": url, "DULY_API_KEY": key}).exit_code == 0
        assert duly("--server", url, "--token", reader, "schedule", "list").exit_code == 0
        assert duly("--server", url, "--token", reader, "key", "list").exit_code == 77
        assert duly("--server", url, "--token", key + "x", "schedule", "list").exit_code == 77
