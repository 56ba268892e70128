"""Metrics change when provoked, in Prometheus' own words; logs are one line per event, harmless to a terminal."""

import asyncio
import io
import json
import logging
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime

import httpx2
import pytest
from prometheus_client.parser import text_string_to_metric_families

from duly import Duly, Every, RunContext, RunStatus, Settings
from duly.api.health import health_of
from duly.app import watching
from duly.app.watching import store_name
from duly.core.errors import OutcomeUnknown, StoreError, StoreUnavailable
from duly.core.run import Completed, Reason, SkippedWindows
from duly.core.version import VERSION
from duly.engine.worker import _leaked
from duly.store.load import Load, Waits
from duly.store.values import Held
from duly.telemetry.exposition import Exposition
from duly.telemetry.logs import ConsoleFormatter, JsonFormatter, configure, escaped
from duly.telemetry.metrics import Metrics
from duly.telemetry.numbers import MOST_NAMES
from duly.testing import ManualClock
from tests.acceptance.rules import rule
from tests.counting import at_least
from tests.serve.serving import PATIENCE, ROOT


def samples(text: bytes) -> dict[str, float]:
    """Every sample by its name and labels."""
    return {
        sample.name + "".join(f"{{{name}={value}}}" for name, value in sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text.decode())
        for sample in family.samples
    }


def skipped(reason: Reason, windows: int) -> SkippedWindows:
    return SkippedWindows(
        id="i", schedule_id="s", revision=1, since=0, window_at=0, windows=windows, job="j", queue="q", reason=reason,
        fired_at=0,
    )  # fmt: skip


@rule("S3.47", "S3.67", "S3.68", "S3.69", "S3.75")
def test_each_number_counts_what_it_says() -> None:
    metrics = Metrics()
    metrics.windows_fired(3, 2, 1, [5, 40, 20_000])
    metrics.windows_skipped([skipped(Reason.OVERLAP, 1), skipped(Reason.MISSED, 4), skipped(Reason.OVERLAP, 1)])
    metrics.topics_unheard([("r", "t")])
    metrics.runs_ended({"a": RunStatus.COMPLETED, "b": RunStatus.COMPLETED, "c": RunStatus.FAILED})
    metrics.settlements_lost(["a"])
    metrics.runs_recovered([1], ["a", "b"])
    metrics.session_lost(1)
    metrics.schedule_set_aside("s", "broken")
    metrics.clock_jumped(9000)
    for error in (StoreUnavailable("x"), OutcomeUnknown("x"), StoreError("x"), None):
        metrics.store_called("write", 0.002, error)
        metrics.loop_failed("scheduler", error or ValueError("x"))
    metrics.lease_doubted(1)
    metrics.beat_failed(StoreUnavailable("x"))
    found = samples(Exposition(metrics, store="sqlite").text(None)[0])
    expected = {
        "duly_fires_total{outcome=fired}": 3,
        "duly_fires_total{outcome=skipped}": 2,
        "duly_fires_total{outcome=duplicate}": 1,
        "duly_skipped_windows_total{reason=overlap}": 2,
        "duly_skipped_windows_total{reason=missed}": 4,
        "duly_runs_total{outcome=completed}": 2,
        "duly_runs_total{outcome=failed}": 1,
        "duly_runs_total{outcome=cancelled}": 0,
        "duly_stale_writes_rejected_total": 1,
        "duly_runs_unheard_total": 1,
        "duly_runs_recovered_total": 2,
        "duly_sessions_lost_total": 1,
        "duly_schedules_set_aside_total": 1,
        "duly_clock_jumps_total": 1,
        "duly_store_errors_total{kind=unavailable}": 2,
        "duly_store_errors_total{kind=unknown_outcome}": 1,
        "duly_store_errors_total{kind=refused}": 1,
        "duly_loop_failures_total{loop=scheduler}": 4,
        "duly_leases_doubted_total": 1,
        "duly_store_call_seconds_count{kind=write}": 4,
        "duly_store_call_seconds_bucket{kind=write}{le=0.0025}": 4,
        "duly_store_call_seconds_count{kind=read}": 0,
        "duly_loop_failures_total{loop=heartbeat}": 1,
        "duly_schedule_lag_seconds_bucket{le=0.01}": 1,
        "duly_schedule_lag_seconds_bucket{le=0.05}": 2,
        "duly_schedule_lag_seconds_bucket{le=30.0}": 3,
        "duly_schedule_lag_seconds_bucket{le=+Inf}": 3,
        "duly_schedule_lag_seconds_count": 3,
        "duly_schedule_lag_seconds_sum": 20.045,
    }
    assert {name: found.get(name) for name in expected} == expected


@rule("S3.5")
async def test_a_running_app_is_seen_in_its_metrics_and_the_store_is_asked_every_few_seconds_only(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "PATIENCE", PATIENCE)
    clock = ManualClock()
    app = Duly(database_url, settings=Settings(poll=0.05))
    health = health_of(app, clock=clock)

    @app.job("ok")
    async def ok(run: RunContext) -> None: ...

    async def scrape() -> dict[str, float]:
        return samples((await health.answers["/metrics"]("", "")).body)

    async with app:
        await app.schedules.create("often", Every(seconds=1), job="ok", overlap="allow")
        await app.schedules.create("nobody", Every(seconds=1), job="unknown")
        async with asyncio.timeout(PATIENCE):
            while not (found := await scrape())["duly_skipped_windows_total{reason=overlap}"]:
                await app.runs.wait((await app.enqueue("ok")).id)
        await app.runs.wait((await app.enqueue("ok")).id, timeout=PATIENCE)
        assert (await scrape())["duly_queue_depth{state=ready}"] == found["duly_queue_depth{state=ready}"], "kept"
        await app.schedules.pause("often")
        for run in (await app.runs.list(schedule="often", limit=200)).items:
            await app.runs.wait(run.id, timeout=PATIENCE)
        await clock.advance(seconds=5)
        found = await scrape()
        assert found["duly_queue_depth{state=ready}"] + found["duly_queue_depth{state=unknown_job}"] == 1
        assert found["duly_runs_total{outcome=completed}"] >= 2
        assert found["duly_fires_total{outcome=fired}"] >= 2
        assert found["duly_claims_total"] >= found["duly_attempts_total{outcome=completed}"] >= 2
        assert found["duly_run_duration_seconds_count"] >= 2
        assert found["duly_build_info{store=" + store_name(app) + "}{version=" + VERSION + "}"] == 1


async def test_an_app_that_does_not_run_is_not_ready() -> None:
    app = Duly("sqlite:///:memory:")
    health = health_of(app)
    reply = await health.answers["/readyz"]("", "")
    assert (reply.status, reply.media_type) == (503, "application/problem+json")
    assert (await health.answers["/livez"]("", "")).status == 200
    async with app:
        health._looked_at = float("-inf")
        assert (await health.answers["/readyz"]("verbose", "")).status == 200
        health.phase = "stopping"
        assert json.loads((await health.answers["/readyz"]("", "")).body)["detail"] == "process: stopping"


@pytest.fixture
def root() -> Iterator[logging.Logger]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield root
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.captureWarnings(False)
    for name in ("uvicorn", "httpx2"):
        logging.getLogger(name).setLevel(logging.NOTSET)


@rule("S3.5")
def test_json_logs_have_the_agreed_keys(root: logging.Logger) -> None:
    out = io.StringIO()
    configure("info", "auto", colour=False, stream=out)
    log = logging.getLogger("shop")
    log.debug("too much")
    fields = {"run_id": "r1", "attempt": 2, "payload": {"card": 1}, "order": 17, "items": ["tea"], "level": "forged"}
    log.warning("run %s\nfailed", "r1", extra=fields)
    try:
        raise ValueError("no")
    except ValueError:
        log.exception("broken")
    first, second = (json.loads(line) for line in out.getvalue().splitlines())
    ts = first.pop("ts")
    assert len(ts) == len("2026-11-16T00:00:00.000Z")
    assert ts.endswith("Z")
    assert first == {
        "level": "warning", "logger": "shop", "event": "run r1\nfailed", "run_id": "r1", "attempt": 2, "order": 17,
        "items": ["tea"],
    }  # fmt: skip
    assert (second["error.type"], second["error.message"]) == ("ValueError", "no")
    assert "Traceback" in second["error.stack"]


class Unprintable:
    def __str__(self) -> str:
        raise SystemExit("a script that became a job")

    __repr__ = __str__


circular: list[object] = []
circular.append(circular)


@pytest.mark.parametrize(
    ("value", "json_value", "console_value"),
    [
        ("Ada", "Ada", "Ada"),
        ("Ada Lovelace", "Ada Lovelace", '"Ada Lovelace"'),
        ("a=b", "a=b", '"a=b"'),
        ("", "", '""'),
        ("x\x1b[2J\ny", "x\x1b[2J\ny", r'"x\u001b[2J\ny"'),
        ("\ud800", r"\ud800", r'"\\ud800"'),
        (17, 17, "17"),
        (1 << 70, 1 << 70, str(1 << 70)),
        (None, None, "null"),
        (["tea", {"n": 2}], ["tea", {"n": 2}], '["tea",{"n":2}]'),
        (datetime(2026, 11, 16, tzinfo=UTC), "2026-11-16T00:00:00Z", "2026-11-16T00:00:00Z"),
        (circular, "[[...]]", "[[...]]"),
        (Unprintable(), "(its text cannot be read: SystemExit)", '"(its text cannot be read: SystemExit)"'),
    ],
    ids=lambda value: type(value).__name__,
)
def test_extra_fields_are_logged_in_both_formats(
    root: logging.Logger, value: object, json_value: object, console_value: str
) -> None:
    console, machine = io.StringIO(), io.StringIO()
    configure("info", "json", colour=False, stream=machine)
    logging.getLogger("shop").info("paid", extra={"detail": value})
    configure("info", "console", colour=False, stream=console)
    logging.getLogger("shop").info("paid", extra={"detail": value})
    assert json.loads(machine.getvalue())["detail"] == json_value
    (line,) = console.getvalue().splitlines()
    assert line.endswith(f"info    shop: paid detail={console_value}")


def logged_on_a_terminal(environment: dict[str, str]) -> str:
    """What a process writes on a pseudo-terminal with the default log format."""
    program = """
import logging, sys
from duly.config import wants_colour
from duly.telemetry.logs import configure
configure("info", "auto", colour=wants_colour(sys.stderr.isatty()))
log = logging.getLogger("shop")
log.info("charged", extra={"order": 17, "payload": {"card": 1}, "run_id": "r1", "worker_id": "w1"})
try:
    raise ValueError("no\\x1b[2J funds")
except ValueError:
    log.exception("run r1 failed", extra={"run_id": "r1", "attempt": 2})
"""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "TERM": "xterm", **environment},
        stderr=theirs,
        timeout=PATIENCE,
    )
    os.close(theirs)
    text = os.read(ours, 65536).decode()
    os.close(ours)
    assert done.returncode == 0, text
    return text.replace("\r\n", "\n")


@pytest.mark.processes
def test_a_terminal_shows_readable_lines_with_fields_and_tracebacks() -> None:
    lines = logged_on_a_terminal({"NO_COLOR": "1", "FORCE_COLOR": ""}).splitlines()
    assert re.fullmatch(r"\d\d:\d\d:\d\d\.\d{3} info    shop: charged order=17 run_id=r1", lines[0])
    assert lines[1].endswith(" error   shop: run r1 failed attempt=2")
    assert lines[2] == "    Traceback (most recent call last):"
    assert lines[-1] == r"    ValueError: no\x1b[2J funds"
    assert not any("\x1b" in line for line in lines)


@pytest.mark.processes
def test_a_terminal_shows_colours_unless_no_color_is_set() -> None:
    text = logged_on_a_terminal({"NO_COLOR": "", "FORCE_COLOR": ""})
    assert "\x1b[32minfo   \x1b[0m" in text
    assert "\x1b[31;1mValueError: no\\x1b[2J funds\x1b[0m" in text
    assert re.sub(r"\x1b\[[0-9;]*m", "", text).count("\x1b") == 0


def test_an_error_that_cannot_say_what_it_is_has_its_line_all_the_same(root: logging.Logger) -> None:
    class Leaving(Exception):
        def __str__(self) -> str:
            raise SystemExit("a script that became a job")

    out = io.StringIO()
    configure("info", "json", colour=False, stream=out)
    logging.getLogger("shop").error("broken", exc_info=Leaving())
    told = json.loads(out.getvalue())
    assert (told["error.type"].rpartition(".")[2], told["error.message"]) == (
        "Leaving",
        "(its text cannot be read: SystemExit)",
    )


def test_requests_of_a_worker_for_a_server_are_not_logged(root: logging.Logger) -> None:
    out = io.StringIO()
    configure("info", "json", colour=False, stream=out)
    with httpx2.Client(transport=httpx2.MockTransport(lambda request: httpx2.Response(200))) as client:
        client.get("http://127.0.0.1/claim")
    assert out.getvalue() == ""


def test_what_is_logged_cannot_move_the_cursor_or_forge_a_line() -> None:
    record = logging.LogRecord("x", logging.INFO, "f", 1, "a\nfake line \x1b[2J \x07 \u2028", None, None)
    line = ConsoleFormatter(colour=False).format(record)
    assert "\n" not in line
    assert "\x1b" not in line
    assert r"a\nfake line \x1b[2J \x07 \u2028" in line
    assert len(JsonFormatter().format(record).splitlines()) == 1
    assert escaped("tab\tstays, ümlaut stays") == "tab\tstays, ümlaut stays"


@rule("S3.75")
def test_the_page_names_every_metric() -> None:
    page = (ROOT / "docs" / "metrics.md").read_text()
    load = Load(1, 2, 3, 4, 5, waits=Waits(1, 2, 3, 4, 5))
    found = samples(Exposition(Metrics(), store="sqlite").text(load)[0])
    names = {re.sub(r"(_bucket|_count|_sum)?(\{.*)?$", "", name) for name in found if name.startswith("duly_")}
    at_least(names, 34, "metrics")
    assert {name for name in names if f"`{name}" not in page} == set()


def test_messages_are_counted_by_target_and_result_and_the_first_hundred_targets_have_numbers() -> None:
    metrics = Metrics(ManualClock())
    metrics.messages_sent("mail", {"confirmed": 3, "failed": 1}, 0.02)
    metrics.messages_sent("mail", {"unreached": 2}, 0.3)
    metrics.target_away("mail", "nobody is there", 1)
    metrics.messages_sent("webhook", {"stopped": 1}, 0.1)
    found = samples(Exposition(metrics, store="sqlite").text(None)[0])
    for result, count in (("confirmed", 3), ("failed", 1), ("unreached", 2), ("refused", 0), ("stopped", 0)):
        assert found[f"duly_messages_total{{result={result}}}{{target=mail}}"] == count
    assert found["duly_dispatch_seconds_count{target=mail}"] == 2
    assert found["duly_dispatch_seconds_bucket{le=0.025}{target=mail}"] == 1
    assert (found["duly_target_away{target=mail}"], found["duly_target_away{target=webhook}"]) == (1, 0)
    assert found["duly_webhook_attempts_total{result=stopped}"] == 1
    assert found["duly_webhook_attempts_total{result=confirmed}"] == 0
    metrics.target_back("mail")
    for n in range(2 * MOST_NAMES):
        metrics.messages_sent(f"t{n}", {"confirmed": 1}, 0.1)
    found = samples(Exposition(metrics, store="sqlite").text(None)[0])
    assert found["duly_target_away{target=mail}"] == 0
    assert len([name for name in found if name.startswith("duly_target_away{")]) == MOST_NAMES + 1
    assert found["duly_messages_total{result=confirmed}{target=other}"] == MOST_NAMES + 2


def test_the_first_hundred_jobs_have_numbers_and_all_others_share_some() -> None:
    metrics = Metrics(ManualClock())
    for n in range(MOST_NAMES + 20):
        claim = _leaked(Held(f"r{n}", 1, False))
        claim.job = f"job-{n:03}"
        metrics.attempt_started(claim)
        metrics.attempt_ended(claim, Completed())
    found = samples(Exposition(metrics, store="sqlite").text(None)[0])
    own = [name for name in found if name.startswith("duly_job_attempts_total{job_type=job-") and "completed" in name]
    assert len(own) == MOST_NAMES
    assert found["duly_job_attempts_total{job_type=other}{outcome=completed}"] == 20
    assert found["duly_job_duration_seconds_count{job_type=other}"] == 20
    assert found["duly_attempts_total{outcome=completed}"] == MOST_NAMES + 20
