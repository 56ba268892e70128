"""What can be copied says the same in every tongue: the command's flags and the Python are run, and compared."""

import json
import shlex
from typing import Any

import click
import pytest

import duly
from duly.api.arguments import create_arguments
from duly.api.bodies import ScheduleBody
from duly.api.reading import read
from duly.cli.flags import body_of
from duly.cli.schedule.making import create
from duly.config import Settings
from duly.dashboard.copying import Copies, copies, essential
from tests.dashboard.bodies import BODIES

EVERY_BODY = pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)


def arguments(body: dict[str, Any]) -> dict[str, Any]:
    made = create_arguments(read(ScheduleBody, body), Settings())
    return {name: tuple(value) if isinstance(value, list) else value for name, value in made.items()}


PARENT = click.Context(click.Group(), help_option_names=["-h", "--help"])  # a command keeps the first it hears of


def copied(body: dict[str, Any]) -> Copies:
    found = copies(body, Settings())
    assert found is not None
    return found


@EVERY_BODY
def test_the_command_makes_the_same_schedule(body: dict[str, Any], tmp_path: Any):
    words, _, document = copied(body).cli.partition(" <<'END'\n")
    given = shlex.split(words)
    assert given[:3] == ["duly", "schedule", "create"]
    if document:
        file = tmp_path / "body.json"
        file.write_text(document.removesuffix("\nEND"))
        given = [str(file) if word == "-" else word for word in given]
    context = create.make_context("create", given[3:], parent=PARENT)
    flags = dict(context.params)
    key = flags.pop("key")
    made = body_of(flags) | ({} if key is None else {"key": key})
    assert arguments(made) == arguments(body)


@EVERY_BODY
def test_the_request_sends_the_same_body(body: dict[str, Any]):
    words = shlex.split(copied(body).curl.replace("\\\n", ""))
    assert "$DULY_API_URL/api/v1/schedules" in words
    assert json.loads(words[words.index("-d") + 1]) == body


@EVERY_BODY
async def test_the_python_makes_the_same_schedule(body: dict[str, Any]):
    asked: list[dict[str, Any]] = []

    class Schedules:
        async def create(self, **words: Any) -> None:
            asked.append(words)

    class App:
        schedules = Schedules()

    code = copied(body).python
    lines = "\n".join(f"    {line}" for line in code.splitlines())
    scope: dict[str, Any] = {"app": App(), "duly": duly}
    exec(compile(f"async def main():\n{lines}", "copied", "exec"), scope)
    await scope["main"]()
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in asked[0].items()}
    assert given == {name: value for name, value in arguments(body).items() if value is not None or name == "timeout"}


def test_a_body_that_the_api_refuses_cannot_be_copied():
    with pytest.raises(duly.DulyError):
        copies({"key": "x", "cronExpression": "never", "jobType": "a"}, Settings())


@EVERY_BODY
def test_what_a_create_would_choose_by_itself_is_left_out(body: dict[str, Any]):
    said = {
        "dst": {"gap": "fire_after", "fold": "first"},
        "queue": "default",
        "priority": 0,
        "maxAttempts": 3,
        "catchUp": {"maxRuns": 100},
    }
    if not body.keys() & {"cronExpression", "weeklyTime"}:
        del said["dst"]
    least = essential({**said, **body}, Settings())
    assert not (said.keys() - body.keys()) & least.keys()
    whole, left = arguments({**said, **body}), arguments(least)
    if body.get("maxAttempts") is None and "retryPolicy" not in body:
        del whole["retry"]  # three attempts are what everybody gets
    for name in ("queue", "priority", "catch_up"):
        if name not in left:
            whole.pop(name, None)
    assert whole == left


def test_what_is_too_large_for_a_page_is_not_offered():
    body = {"key": "x", "cronExpression": "0 0 * * *", "jobType": "a", "jobPayload": "y" * 20_000}
    assert copies(body, Settings()) is None
