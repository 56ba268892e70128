"""The demonstration: something completes within seconds, a second start changes nothing, and it leaves no noise."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.serve.serving import ROOT, Served

pytestmark = [pytest.mark.processes, pytest.mark.timeout(300, func_only=True)]
Serve = Callable[..., Served]
KEYS = {
    "demo-heartbeat", "demo-report", "demo-slow", "demo-new-york", "demo-import", "demo-digest", "demo-night",
    "demo-vendor", "demo-reminder",
}  # fmt: skip


def keys(served: Served) -> dict[str, dict[str, object]]:
    return {item["key"]: item for item in served.ask("/api/v1/schedules").json["items"]}


def test_completed_runs_are_listed_within_seconds_and_a_restart_finds_the_same_schedules(serve: Serve) -> None:
    served = serve("--demo").ready()
    served.until(lambda: served.runs(status="completed"), "a completed run")
    first = keys(served)
    assert set(first) == KEYS
    assert first["demo-new-york"]["timezone"] == "America/New_York"
    served.until(lambda: "fails on purpose" in served.said() and "at attempt 2" in served.said(), "a retry")
    served.until(lambda: [run for run in served.runs(status="skipped") if run["reason"] == "overlap"], "a skip")
    assert served.end() == 0

    again = serve("--demo").ready()
    second = keys(again)
    assert set(second) == KEYS
    for key in KEYS - {"demo-reminder"}:
        assert (second[key]["id"], second[key]["revision"]) == (first[key]["id"], first[key]["revision"])
    again.until(lambda: "reminder: this was set" in again.said(), "the reminder")
    assert again.end() == 0


def test_a_start_without_it_pauses_what_it_left(serve: Serve) -> None:
    demo = serve("--demo").ready()
    demo.until(lambda: demo.runs(status="completed"), "a completed run")
    assert demo.end() == 0
    served = serve().ready()
    assert {item["enabled"] for key, item in keys(served).items() if key != "demo-reminder"} == {False}
    assert served.end() == 0


def test_the_script_for_newcomers_starts_it() -> None:
    text = (ROOT / "scripts" / "serve").read_text()
    assert 'duly" serve --demo "$@"' in text
    assert Path(ROOT / ".gitignore").read_text().count("*.db"), "what it makes in a clone is not litter"
