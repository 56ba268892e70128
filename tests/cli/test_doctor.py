"""``duly doctor``: what it finds, and that it only looks."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import duly as library
from duly.store.sqlite.inspecting import inspect
from tests.cli.conftest import Duly, execute
from tests.serve.serving import Served
from tests.store_choice import postgres_too


def findings(on_store: Duly) -> dict[tuple[str, str], str]:
    told = json.loads(on_store("doctor", "-o", "json").stdout)["findings"]
    return {(found["level"], found["subject"]): found["text"] for found in told}


def test_an_absent_database_is_a_warning_and_is_not_made(duly: Duly, tmp_path: Path) -> None:
    done = duly("doctor")
    assert done.exit_code == 0
    assert "there is no database yet -> `duly db migrate`" in done.stdout
    assert list(tmp_path.iterdir()) == []


@postgres_too("findings about the server")
def test_a_sound_store_without_instances(on_store: Duly) -> None:
    on_store("db", "migrate")
    found = findings(on_store)
    assert ("ok", "schema") in found
    assert ("ok", "schedules") in found
    assert found["warn", "instances"] == "none is alive: nothing fires and nothing runs"


async def start(url: str, **options: Any) -> library.Duly:
    app = library.Duly(url, **options)
    await app.start()
    return app


@pytest.mark.parametrize("roles", [("scheduler", "worker"), ("scheduler",), ("worker",)])
@postgres_too("sessions of other connections")
def test_live_instances_are_named_with_their_roles(on_store: Duly, store_url: str, roles: tuple[str, ...]) -> None:
    async def look() -> dict[tuple[str, str], str]:
        app = await start(store_url, roles=roles, name="shop")
        try:
            return await asyncio.to_thread(findings, on_store)
        finally:
            await app.stop()

    found = asyncio.run(look())
    assert "shop" in found["ok", "instances"]
    assert (
        found.get(("warn", "instances"))
        == {
            ("scheduler", "worker"): None,
            ("scheduler",): "none of them is a worker: nothing runs",
            ("worker",): "none of them is a scheduler: nothing fires, and what a dead instance ran stays as it is",
        }[roles]
    )


def test_an_overdue_schedule_fails_the_check(on_store: Duly, store_url: str) -> None:
    on_store("schedule", "create", "k", "--every", "1h", "--job", "j")
    execute(store_url, "UPDATE duly_cursors SET fire_at = fire_at - 7200000")
    done = on_store("doctor")
    assert done.exit_code == 1
    assert "overdue: the oldest fire was due" in done.stdout
    assert "1 failed" in done.stderr


def test_runs_that_nobody_knows_are_told_by_job(on_store: Duly, store_url: str) -> None:
    on_store("schedule", "create", "k", "--every", "1h", "--job", "lost-art")
    on_store("schedule", "trigger", "k")
    execute(store_url, "UPDATE duly_runs SET hold = 2")
    assert findings(on_store)["warn", "runs"] == "1 of job 'lost-art', which no live worker knows, waits"
    assert "start a worker whose app has that job, or cancel them" in on_store("doctor").stdout
    execute(store_url, "UPDATE duly_runs SET job = 'webhook:post'")
    assert "pip install 'duly[webhook]' where one runs, or cancel them" in on_store("doctor").stdout


def test_what_was_not_delivered_is_told(on_store: Duly, store_url: str) -> None:
    on_store("schedule", "create", "k", "--every", "1h", "--job", "j", "--max-attempts", "1")
    on_store("schedule", "trigger", "k")
    sound = findings(on_store)
    assert not {("warn", "deliveries"), ("warn", "dead letters")} & set(sound)
    execute(store_url, "UPDATE duly_runs SET queue = 'target:mail', attempt = 1, fired_at = fired_at - 600000")
    assert findings(on_store)["warn", "deliveries"].startswith("the oldest message to a target has waited for 10 min")


def test_dead_letters_are_told(on_store: Duly, store_url: str) -> None:
    async def fail() -> None:
        app = library.Duly(store_url)

        @app.job("bad")
        async def bad() -> None:
            raise library.Fatal("no")

        async with app:
            await app.runs.wait((await app.enqueue("bad")).id, timeout=30)

    asyncio.run(fail())
    assert findings(on_store)["warn", "dead letters"] == "1 run has failed for good and not been dealt with"


def test_a_network_file_system_is_refused(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(f"disk / ext4 rw 0 0\nfiler:/x {tmp_path} nfs4 rw 0 0\n")
    found = {item.subject: item for item in inspect(str(tmp_path / "x.db"), mounts).findings}
    assert found["file system"].level == "fail"
    assert "nfs4" in found["file system"].text
    mounts.write_text("disk / ext4 rw 0 0\n")
    found = {item.subject: item for item in inspect(str(tmp_path / "x.db"), mounts).findings}
    assert found["file system"].level == "ok"


def test_a_bad_configuration_is_a_finding(duly: Duly) -> None:
    done = duly("doctor", env={"DULY_POLL": "soon"})
    assert done.exit_code == 1
    assert "fail  configuration  DULY_POLL is" in done.stdout


def test_an_unreachable_server_is_a_finding(duly: Duly) -> None:
    done = duly("doctor", "--server", "http://127.0.0.1:1")
    assert done.exit_code == 1
    assert "no answer from http://127.0.0.1:1" in done.stdout


def server_findings(duly: Duly, url: str, *flags: str) -> dict[tuple[str, str], str]:
    told = json.loads(duly("doctor", "--server", url, "-o", "json", *flags).stdout)["findings"]
    return {(found["level"], found["subject"]): found["text"] for found in told}


@pytest.mark.processes
def test_a_server_whose_schedules_nobody_fires_is_no_all_clear(duly: Duly, tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'duly.db'}"

    def key(scope: str) -> str:
        made = duly("key", "create", "--name", scope, "--scopes", scope, "--database-url", store, "-o", "name")
        return made.stdout.strip()

    admin, reader = key("admin"), key("read")
    server = Served(tmp_path, command="api").ready()
    try:
        sound = server_findings(duly, server.url, "--token", admin)
        duly("schedule", "create", "k", "--every", "1h", "--job", "j", "--database-url", store)
        execute(store, "UPDATE duly_cursors SET fire_at = fire_at - 7200000")
        overdue = server_findings(duly, server.url, "--token", admin)
        asked = server_findings(duly, server.url, "--token", reader)
    finally:
        server.close()
    assert ("ok", "schedules") in sound
    assert "none of them is a worker: nothing runs" in sound["warn", "instances"]
    assert not any(subject == "runs" for _, subject in sound)
    assert overdue["fail", "schedules"].startswith("overdue: the oldest fire was due ")
    assert asked["warn", "instances"] == "this key may not ask who is alive and what waits: neither was looked at"


def test_while_no_worker_lives_nothing_is_said_of_jobs_that_none_knows(on_store: Duly) -> None:
    on_store("schedule", "create", "k", "--every", "1h", "--job", "j")
    on_store("schedule", "trigger", "k")
    assert not any(subject == "runs" for _, subject in findings(on_store))


def test_a_damaged_file_is_told_what_to_do_with(duly: Duly, tmp_path: Path) -> None:
    path = tmp_path / "duly.db"
    url = f"sqlite:///{path}"
    assert duly("db", "migrate", "--database-url", url).exit_code == 0
    pages = path.read_bytes()
    path.write_bytes(pages[:8192] + bytes([222, 173]) * ((len(pages) - 8192) // 2))
    done = duly("doctor", "--database-url", url)
    assert done.exit_code == 1
    for word in ("is damaged", "restore a backup", ".recover", "`duly db restored`"):
        assert word in done.stdout, done.stdout
    assert "is the database running" not in done.stdout
