"""``duly workflow`` on a store and on a server."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from tests.acceptance.rules import rule
from tests.cli.conftest import Duly

PROGRAM = """
import duly
app = duly.Duly("sqlite:///flows.db")

@app.workflow("order", on_event="made", updates={"amount": lambda n: 1 // n})
async def order(ctx, input: int):
    ctx.publish("state", "waiting")
    return [input, await ctx.wait_for_signal("go")]

@app.workflow("nothing")
async def nothing(ctx, input):
    ctx.publish("state", None)
"""

START = """
import asyncio
from flows import app

async def main():
    async with app:
        pass

asyncio.run(main())
"""

WORK = """
import asyncio
from flows import app

async def main():
    async with app:
        run = await app.workflows.start("nothing", None, id="nothing-7")
        await app.runs.wait(run.id, timeout=60)

asyncio.run(main())
"""


@pytest.fixture
def flows(duly: Duly, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Duly:
    (tmp_path / "flows.py").write_text(PROGRAM)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert duly("db", "migrate", "--app", "flows:app").exit_code == 0
    return lambda *words: duly("workflow", *words, "--app", "flows:app")


def answer(done: Result) -> Any:
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def test_a_workflow_is_started_told_and_cancelled(flows: Duly) -> None:
    started = flows("start", "order", "--input", "4", "--id", "order-7", "-o", "json")
    run = answer(started)
    assert (run["workflow"], run["payload"], run["status"]) == ("order", 4, "pending")
    assert started.stderr == f"started run {run['id']}\n"
    told = flows("signal", "order-7", "go", "--payload", '"now"')
    assert (told.exit_code, told.stderr) == (0, f"sent signal go to run {run['id']}\n")
    nothing = flows("query", "order-7", "state", "-o", "json")
    assert (nothing.exit_code, nothing.stdout) == (3, "")
    assert nothing.stderr == "duly: run order-7 has published nothing under 'state'\n"
    assert answer(flows("steps", "order-7", "-o", "json"))["items"] == []
    assert "no worker has begun it" in flows("steps", "order-7").stderr
    assert flows("update", "order-7", "amount", "--payload", "1").exit_code == 0
    refused = flows("update", "order-7", "amount", "--payload", "0")
    assert (refused.exit_code, "refused update amount: " in refused.stderr) == (1, True)
    assert answer(flows("cancel", "order-7", "-o", "json"))["status"] == "cancelled"
    late = flows("signal", "order-7", "go")
    assert (late.exit_code, "has ended as cancelled" in late.stderr) == (4, True)


@pytest.mark.processes
def test_an_event_is_published_once_and_what_events_start_is_listed(flows: Duly, tmp_path: Path) -> None:
    none = flows("events")
    assert (none.exit_code, "no app has declared on_event" in none.stderr) == (0, True)
    started = subprocess.run([sys.executable, "-c", START], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert started.returncode == 0, started.stderr
    (one,) = answer(flows("events", "-o", "json"))["items"]
    assert (one["event"], one["workflow"], one["batch"]) == ("made", "order", None)
    assert "at once" in flows("events").stdout
    first = flows("publish", "made", "--payload", "4", "--id", "made-4", "-o", "json")
    assert len(answer(first)["runs"]) == 1
    assert first.stderr == "event made: told 0, started or added to 1\n"
    assert "nothing was done" in flows("publish", "made", "--id", "made-4").stderr


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["start", "none"], 2, "known neither to this app nor to a live worker"),
        (["start", "order", "--input", "{"], 2, "--input is not JSON"),
        (["start", "order", "--input", '"x"'], 2, "refused"),
        (["steps", "nobody"], 3, "no run"),
        (["signal", "nobody", "go"], 3, "no run"),
    ],
)
def test_bad_words_are_refused(flows: Duly, words: list[str], code: int, said: str) -> None:
    flows("start", "order", "--input", "1")
    done = flows(*words)
    assert (done.exit_code, said in done.stderr) == (code, True), done.stderr


@pytest.mark.processes
def test_a_value_that_was_published_null_is_told_from_none(flows: Duly, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", WORK], cwd=tmp_path, check=True)
    shown = answer(flows("query", "nothing-7", "state", "-o", "json"))
    assert shown == {"name": "state", "value": None, "published": True}
    assert flows("query", "nothing-7", "stat").exit_code == 3


def test_on_a_server_the_server_decides(anywhere: Duly) -> None:
    anywhere("schedule", "create", "first", "--daily", "02:00", "--job", "report")
    run = answer(anywhere("schedule", "trigger", "first", "-o", "json"))
    assert anywhere("workflow", "start", "order").exit_code == 2
    assert answer(anywhere("workflow", "steps", run["id"], "-o", "json"))["items"] == []
    assert anywhere("workflow", "query", run["id"], "x", "-o", "json").exit_code == 3
    done = anywhere("workflow", "signal", run["id"], "go", "--payload", "1")
    assert (done.exit_code, "only workflows wait" in done.stderr) == (4, True)
    assert anywhere("workflow", "update", run["id"], "go").exit_code == 4


@rule("S0d.36")
def test_check_finds_what_would_differ_in_a_replay(flows: Duly, duly: Duly, tmp_path: Path) -> None:
    assert duly("workflow", "check", "flows:app").exit_code == 0
    (tmp_path / "bad.py").write_text(BAD)
    done = duly("workflow", "check", "bad:app", "-o", "json")
    assert done.exit_code == 1
    found = json.loads(done.stdout)["items"]
    assert [(one["line"], one["call"]) for one in found] == [
        (10, "time.time"),
        (11, "datetime.datetime.now"),
        (12, "random.random"),
        (14, "open"),
        (15, "uuid.uuid4"),
    ]
    assert found[0]["advice"] == "use ctx.now()"


BAD = """
import random, time, uuid
import duly
from datetime import datetime
app = duly.Duly("sqlite:///flows.db")

@app.workflow("bad")
async def bad(ctx):
    await ctx.step("fine", lambda: time.time())
    time.time()
    datetime.now()
    random.random()
    async def inner():
        open("file")
        await ctx.step("id", print, uuid.uuid4())
    ctx.side_effect(lambda: random.random())
    ctx.now(), ctx.random()
"""
