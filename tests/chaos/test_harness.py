"""The harness itself: a fault matrix that cannot see a fault proves nothing."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime

import pytest

from duly.core.run import Run, RunKind, RunStatus
from tests.chaos.brokers import judge_messages
from tests.chaos.judging import judge_ledger, judge_runs, judge_schedule, judge_steps, percentile, zombie_ends
from tests.chaos.ledger import Ledger
from tests.chaos.power_cut import OURS, Event, image, judge_power_cuts
from tests.chaos.rows import ELSEWHERE, ROWS
from tests.chaos.tally import add_up, notes
from tests.chaos.tally import table as tally
from tests.chaos.trial import working_folder
from tests.simulation.oracle import Expected, Rule
from tests.store.postgres.proxy import Fault, Proxy

SECOND = 1000


def line(event: str, run: str = "r", fence: int = 1, **values: object) -> dict[str, object]:
    return {"event": event, "run": run, "fence": fence, "pid": 1, "at": 0.0, **values}


def run(id: str = "r", *, window: int = 0, status: RunStatus = RunStatus.COMPLETED, result: object = None) -> Run:
    at = datetime.fromtimestamp(window, UTC)
    return Run(
        id=id,
        kind=RunKind.WINDOW,
        job="tick",
        queue="default",
        status=status,
        scheduled_at=at,
        window_at=at,
        fired_at=at,
        result_json=json.dumps(result),
        fence=1,
        attempt=1,
        max_attempts=3,
    )


def expected(until: int) -> Expected:
    found = Expected("k")
    found.begin(0, Rule(1, False))
    found.end(until * SECOND)
    return found


def test_every_row_of_the_plan_is_struck_or_said_to_be_elsewhere() -> None:
    struck = {row.id[:3] for row in ROWS}
    told = set(ELSEWHERE)
    for letter, last in (("F", 13), ("P", 16), ("S", 7), ("T", 7), ("N", 4), ("L", 5), ("B", 8)):
        wanted = {f"{letter}{number:02}" for number in range(1, last + 1)}
        assert wanted - struck - told == set()
    assert {"P16", "S06", "L04", "L05", "B07", "B08"} == {row.id for row in ROWS if row.short == 0}, (
        "long rows are for a release"
    )


def test_a_window_that_is_missed_or_doubled_or_nobody_s_is_counted() -> None:
    right = [run(f"r{n}", window=n) for n in (1, 2, 3)]
    assert judge_schedule(expected(3), right, [], leapt=False).findings == []
    figures = judge_schedule(expected(3), right[:2], [], leapt=False)
    assert (figures.expected, figures.fired, figures.missed, figures.doubled) == (3, 2, 1, 0)
    figures = judge_schedule(expected(3), [*right, run("again", window=2)], [], leapt=False)
    assert (figures.missed, figures.doubled) == (0, 1)
    assert judge_schedule(expected(2), right, [], leapt=False).findings == ["k: window 3000 is none of its own"]


def test_an_end_by_an_older_attempt_is_a_zombie_s_and_accepted_or_refused() -> None:
    lines = [line("start"), line("start", fence=2), line("end"), line("end", fence=2)]
    assert zombie_ends(lines) == [("r", 1)]
    refused = judge_runs([run(result="fence 2")], lines, may_fail=False)
    assert (refused.zombie_writes, refused.zombie_refused, refused.findings) == (1, 1, [])
    accepted = judge_runs([run(result="fence 1")], lines, may_fail=False)
    assert (accepted.zombie_writes, accepted.zombie_refused) == (1, 0)
    assert accepted.findings == ["run r was ended by fence 1; begun were [1, 2]"]


def test_an_attempt_that_stood_still_before_its_handler_is_none_that_was_taken_up_too_late() -> None:
    still = [line("taken"), line("taken", fence=2), line("start", fence=2), line("start")]
    assert judge_runs([], still, may_fail=False).findings == []
    late = [line("taken", fence=2), line("start", fence=2), line("taken"), line("start")]
    assert judge_runs([], late, may_fail=False).findings == ["run r: a fence was begun twice or went back: [2, 1]"]
    assert judge_runs([], [line("start", fence=2), line("start")], may_fail=False).findings


def test_a_claim_that_two_begin_and_a_window_that_two_runs_are_is_found() -> None:
    assert judge_runs([], [line("start"), line("start")], may_fail=False).findings
    assert judge_ledger([line("start", "a", window="sched:k:1"), line("start", "b", window="sched:k:1")])
    assert judge_runs([run(status=RunStatus.RUNNING)], [], may_fail=True).findings


def test_a_message_that_is_missing_nobody_s_or_another_is_found() -> None:
    committed = {"a": b"1", "b": None}
    findings, figures = judge_messages(committed, [("a", b"1"), ("b", b"x"), ("a", b"1")])
    assert (findings, figures) == ([], {"messages": 2, "came again": 1, "did not come": 0})
    assert judge_messages(committed, [("a", b"1")])[1]["did not come"] == 1
    assert judge_messages(committed, [("c", b"")])[0] == ["message c was not committed"]
    assert judge_messages(committed, [("b", b"1"), ("b", b"2")])[0] == ["message b came with 2 bodies"]
    assert judge_messages(committed, [("a", b"2")])[0] == ["message a is {b'2'}, not b'1'"]


def test_a_step_whose_recorded_result_is_not_what_a_replay_saw_is_found() -> None:
    done = [
        line("step", step="gather", seen=None, token="a"),
        line("step", step="refine", seen="a", token="b"),
        line("step", step="send", seen="b", token="c"),
    ]
    assert judge_steps([run(result=["a", "b", "c"])], done) == []
    assert judge_steps([run(result=["a", "x", "c"])], done), "nobody made it"
    assert judge_steps([run(result=["a", "b", "c"])], [*done, line("step", step="send", seen="z", token="d")])


def test_percentiles_are_values_that_were_there() -> None:
    assert percentile([], 99) is None
    assert (percentile([3, 1, 2], 50), percentile([3, 1, 2], 99), percentile([3, 1, 2], 100)) == (2, 3, 3)


@pytest.fixture
def ledger() -> Iterator[Ledger]:
    with working_folder() as folder:  # a socket's path must be short
        book = Ledger(folder)
        yield book
        book.close()


@pytest.mark.processes
def test_the_ledger_keeps_what_a_killed_process_said_last(ledger: Ledger) -> None:
    word = """if True:
        import os, socket, signal, sys
        way = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        way.sendto(b'{"event": "last"}', sys.argv[1])
        os.kill(os.getpid(), signal.SIGKILL)
    """
    assert subprocess.run([sys.executable, "-c", word, str(ledger.socket)], check=False).returncode == -signal.SIGKILL
    ledger.note("after")
    give_up_at = time.monotonic() + 60
    while len(ledger.read()) < 2:
        assert time.monotonic() < give_up_at
        os.sched_yield()
    assert [line["event"] for line in ledger.read()] == ["last", "after"]


@pytest.fixture
def echo() -> Iterator[Proxy]:
    """A proxy before a server that answers what it hears."""
    server = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=_echo, args=(server,))
    thread.start()
    proxy = Proxy(f"x://me@127.0.0.1:{server.getsockname()[1]}")
    yield proxy
    proxy.close()
    server.shutdown(socket.SHUT_RDWR)
    thread.join()
    server.close()


def _echo(server: socket.socket) -> None:
    with suppress(OSError):
        while True:
            wire, _ = server.accept()
            with wire, suppress(OSError):
                while data := wire.recv(100):
                    wire.sendall(data)


def connect(proxy: Proxy) -> socket.socket:
    return socket.create_connection(("127.0.0.1", int(proxy.url.rpartition(":")[2])), timeout=60)


def test_what_a_proxy_holds_arrives_late_and_what_it_cuts_is_reset(echo: Proxy) -> None:
    with connect(echo) as wire:
        echo.set(Fault.HOLD)
        wire.sendall(b"late")
        wire.settimeout(0.2)
        with pytest.raises(TimeoutError):
            wire.recv(4)
        echo.heal()
        wire.settimeout(60)
        assert wire.recv(4) == b"late"
        echo.cut()
        assert _ended(wire)


def test_a_proxy_that_refuses_breaks_new_connections_off(echo: Proxy) -> None:
    echo.set(Fault.REFUSE)
    with connect(echo) as wire:
        assert _ended(wire)


def _ended(wire: socket.socket) -> bool:
    try:
        return wire.recv(1) == b""
    except ConnectionResetError:
        return True


def test_an_image_holds_what_was_synced_and_any_sectors_of_the_rest() -> None:
    events = [Event("write", "f", 0, b"a" * 1024), Event("sync", "f"), Event("write", "f", 0, b"b" * 1024)]
    assert image(events, 2, random.Random(0)) == {"f": b"a" * 1024}
    seen = {image(events, 3, random.Random(seed))["f"] for seed in range(50)}
    assert seen == {a * 512 + b * 512 for a in (b"a", b"b") for b in (b"a", b"b")}


@pytest.mark.timeout(600)
@pytest.mark.processes
def test_s03_a_power_cut_loses_nothing_that_was_answered_and_would_without_a_sync_per_commit() -> None:
    full = judge_power_cuts(OURS, 30, random.Random(1))
    assert full.findings == []
    assert full.remarks["checkpoints"] > 3, "cuts in the middle of a checkpoint are among them"
    normal = judge_power_cuts("NORMAL", 30, random.Random(1))
    assert normal.remarks["with a loss"], "the images can show a loss: this test is not void"
    assert not [found for found in normal.findings if "integrity_check" in found], "and the file stays whole"


def told(id: str = "F01", verdict: str = "ok", **values: object) -> dict[str, object]:
    return {"id": id, "store": "sqlite", "fault": "f", "verdict": verdict, "load": 1.0, **values}


def test_what_several_runs_kept_is_added_up() -> None:
    runs = [
        told(repetitions=2, expected=10, fired=9, skipped=1, recoveries=[1.0, 2.0], late_max=0.5),
        told(repetitions=1, expected=5, fired=5, doubled=1, recoveries=[9.0], late_max=3.0, load=7.5),
        told("P01", repetitions=1, expected=3, fired=3, recovery_p50=1.0, recovery_p99=4.0),
        told("P01", repetitions=1, expected=3, fired=3, recoveries=[5.0], recovery_p50=5.0, recovery_p99=5.0),
        told("P01", "FAILED", why="Traceback\nAssertionError: lost"),
        told("P02", "NOT RUN"),
    ]
    first, second = add_up(runs)
    assert (first["repetitions"], first["expected"], first["fired"], first["doubled"]) == (3, 15, 14, 1)
    assert (first["recovery_p50"], first["recovery_p99"], first["late_max"]) == (2.0, 9.0, 3.0)
    assert (second["recovery_p50"], second["recovery_p99"]) == (3.0, 5.0), "the median and the worst of what was kept"
    assert tally([first, second]).splitlines()[2] == (
        "| F01 | sqlite | f | 3 | 15 | 14 | 1 | 1 | 0 | - | - | 2.0, 9.0 | 3.0 |"
    )
    assert notes([first, second]) == ["P01 on sqlite failed: AssertionError: lost", "load average 1.0 to 7.5"]
