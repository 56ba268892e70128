"""H15: what older releases recorded still replays on today's code, and what does not fit is told."""

import json
from pathlib import Path
from typing import Any

import pytest

from duly import NonDeterminismError
from duly.testing import assert_replayable
from duly.workflow.definition import make_workflow
from tests.acceptance.rules import rule
from tests.counting import at_least
from tests.workflow.kept import HISTORIES, everything

FILES = at_least(sorted(HISTORIES.glob("*.json")), 1, "recorded histories")


@rule("S0.33", "S0d.37", "H15")
@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.stem))
def test_h15_a_recorded_run_replays_on_today_s_code(file: Path) -> None:
    assert_replayable(everything, file)


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.stem))
@pytest.mark.parametrize("known", [0, 4, 9])
def test_so_does_one_that_has_not_ended(file: Path, known: int) -> None:
    history = json.loads(file.read_text())
    last = next((s["position"] for s in history["steps"] if s.get("seq") == known), 0)
    steps = [s for s in history["steps"] if s.get("seq", 0) <= known and s["position"] <= last]
    assert_replayable(everything, {**history, "steps": steps})


async def test_it_works_on_an_event_loop_too() -> None:
    assert_replayable(everything, FILES[0])


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.stem))
def test_a_body_that_was_changed_is_found_out(file: Path) -> None:
    async def changed(ctx: Any, input: Any) -> None:
        await ctx.step("renamed", print)

    with pytest.raises(NonDeterminismError, match="'renamed'"):
        assert_replayable(make_workflow("everything", "1", changed), file)
