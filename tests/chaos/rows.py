"""The rows of the fault matrix: what is done, on which stores, how often in which tier, and what it needs."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

from tests.chaos import client_faults as client
from tests.chaos import clock_faults as clock
from tests.chaos import file_faults as file
from tests.chaos import load_faults as load
from tests.chaos import postgres_faults as postgres
from tests.chaos import power_cut
from tests.chaos import process_faults as process
from tests.chaos.judging import Figures
from tests.chaos.trial import NAMES, Setting, Trial

BOTH = ("postgres", "sqlite")
POSTGRES = ("postgres",)
SQLITE = ("sqlite",)
TIERS = ("change", "short", "release")

Strike = Callable[[Trial], Awaitable[None]]
Alone = Callable[[random.Random, int], Coroutine[Any, Any, Figures]]

OWN = Setting(own_server=True)
PROXIED = Setting(proxied=True)

ELSEWHERE = {
    "P17-P20": "failover with Patroni and etcd: scripts/patroni",
    "P21": "there is no older release to run beside this one yet",
    "S08": "a restore under running instances: tests/engine/test_restores.py",
    "T05": "changes of clocks in many zones, on a clock that tests move: tests/core/timing and tests/simulation",
    "B01-B08": "brokers and webhooks: tests of the targets",
}
"""Rows of the plan that are not struck here, and where they are, or why they are nowhere."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """A fault, struck so often per tier; ``change`` names the stores of the tier that every change goes through.

    ``alone`` rows need no fleet and judge themselves. ``late`` is the most that a window may be late, in seconds, in
    tiers that run on a quiet machine.
    """

    id: str
    fault: str
    strike: Strike | None = None
    alone: Alone | None = None
    stores: tuple[str, ...] = BOTH
    change: tuple[str, ...] = ()
    in_change: int = 1
    short: int = 1
    release: int = 20
    needs: tuple[str, ...] = ()
    setting: Setting = field(default_factory=Setting)
    late: float | None = None

    def repetitions(self, tier: str) -> int:
        return {"change": self.in_change if self.change else 0, "short": self.short, "release": self.release}[tier]

    def stores_in(self, tier: str) -> tuple[str, ...]:
        return self.change if tier == "change" else self.stores


ROWS: tuple[Row, ...] = (
    Row(id="F01", fault="SIGKILL of one instance", strike=process.kill_one, change=POSTGRES, short=10, release=200),
    Row(id="F02", fault="SIGKILL at a named point", strike=process.kill_at_point, change=BOTH, short=13, release=260),
    Row(id="F03", fault="SIGKILL of all, down 0 to 8 s", strike=process.kill_all, short=3, release=60),
    Row(id="F04", fault="a handler's process dies", strike=process.kill_child, short=3, release=100),
    Row(
        id="F05",
        fault="rolling deploy under load",
        strike=process.rolling_deploy,
        short=2,
        release=50,
        late=2.0,
    ),
    Row(id="F06", fault="SIGTERM, then SIGKILL", strike=process.terminate_then_kill, short=2, release=50),
    Row(
        id="F07",
        fault="SIGSTOP until taken over; 0.5 to 5 leases",
        strike=process.freeze_one,
        change=POSTGRES,
        short=4,
        release=200,
    ),
    Row(
        id="F07b",
        fault="frozen by a control group, 2 leases",
        strike=process.freeze_tree,
        short=1,
        release=20,
        needs=("freezer",),
    ),
    Row(id="F08", fault="frozen at a named point", strike=process.freeze_at_point, change=SQLITE, short=5, release=100),
    Row(id="F09", fault="event loop blocked", strike=process.block_loop, short=1, release=30),
    Row(
        id="F10",
        fault="out of memory",
        strike=process.out_of_memory,
        needs=("memory",),
        setting=Setting(may_fail=True),
    ),
    Row(id="F11", fault="no file descriptors left", strike=process.no_descriptors),
    Row(id="F12", fault="a twentieth of a core", strike=process.starve, needs=("cpu",)),
    Row(id="F13", fault="crash loop of 20 s", strike=process.crash_loop, release=10),
    Row(id="P01", fault="backends ended for 5 s", strike=postgres.end_backends, stores=POSTGRES, short=3, release=50),
    Row(
        id="P02",
        fault="server killed, stopped at once, stopped",
        strike=postgres.restart_server,
        stores=POSTGRES,
        change=POSTGRES,
        short=6,
        release=150,
        setting=OWN,
    ),
    Row(id="P03", fault="server away for 8 leases", strike=postgres.away_for_long, stores=POSTGRES, setting=OWN),
    Row(
        id="P04",
        fault="server frozen for 10 s",
        strike=postgres.freeze_server,
        stores=POSTGRES,
        short=2,
        release=30,
        setting=OWN,
    ),
    Row(
        id="P05",
        fault="black hole of 4 leases",
        strike=postgres.black_hole,
        stores=POSTGRES,
        change=POSTGRES,
        short=2,
        release=30,
        setting=PROXIED,
    ),
    Row(
        id="P06",
        fault="answer to COMMIT lost (10 a strike)",
        strike=postgres.lose_commit_replies,
        stores=POSTGRES,
        change=POSTGRES,
        short=3,
        release=50,
        setting=PROXIED,
    ),
    Row(
        id="P07",
        fault="COMMIT lost (10 a strike)",
        strike=postgres.lose_commits,
        stores=POSTGRES,
        release=20,
        setting=PROXIED,
    ),
    Row(
        id="P08",
        fault="slow link: 200 ms, then 20 KB/s",
        strike=postgres.slow_link,
        stores=POSTGRES,
        setting=PROXIED,
    ),
    Row(
        id="P09",
        fault="writes arrive, answers do not",
        strike=postgres.half_link,
        stores=POSTGRES,
        short=2,
        release=30,
        setting=PROXIED,
    ),
    Row(
        id="P10",
        fault="table locked, rows locked",
        strike=postgres.lock_held,
        stores=POSTGRES,
        short=2,
        release=30,
        setting=OWN,
    ),
    Row(
        id="P11",
        fault="no connections left; read-only",
        strike=postgres.no_connections,
        stores=POSTGRES,
        setting=Setting(own_server=True, server_settings={"max_connections": "60"}),
    ),
    Row(
        id="P12",
        fault="5% of calls fail or are unknown",
        strike=postgres.random_errors,
        short=2,
        setting=Setting(plan={"errors": 0.05}),
    ),
    Row(
        id="P13",
        fault="disk full for 2 leases",
        strike=postgres.full_disk,
        stores=POSTGRES,
        needs=("mount",),
        setting=Setting(own_server=True, disk=200),
    ),
    Row(
        id="P14",
        fault="every sync takes 200 ms",
        strike=postgres.slow_sync,
        stores=POSTGRES,
        release=10,
        needs=("gcc",),
        setting=Setting(own_server=True, fsync=True, slow_sync_ms=200),
    ),
    Row(
        id="P15",
        fault="through PgBouncer: P01, then F01",
        strike=postgres.through_pooler,
        stores=POSTGRES,
        release=10,
        needs=("pgbouncer",),
        setting=Setting(pgbouncer=True, own_server=True),
    ),
    Row(
        id="P16",
        fault="old snapshot held for 10 min",
        strike=postgres.old_snapshot,
        stores=POSTGRES,
        short=0,
        release=3,
        setting=OWN,
    ),
    Row(
        id="S01",
        fault="SIGKILL of one of four",
        strike=process.kill_one,
        stores=SQLITE,
        change=SQLITE,
        short=10,
        release=300,
        setting=Setting(instances=("a", "b", "c", "d")),
    ),
    Row(
        id="S02",
        fault="long reader, four writers",
        strike=file.long_reader,
        stores=SQLITE,
        setting=Setting(instances=("a", "b", "c", "d")),
    ),
    Row(
        id="S03",
        fault="power cut (images of what a disk may keep)",
        alone=power_cut.cut_power,
        stores=SQLITE,
        change=SQLITE,
        in_change=50,
        short=50,
        release=500,
    ),
    Row(
        id="S04",
        fault="disk full for 2 leases",
        strike=postgres.full_disk,
        stores=SQLITE,
        short=2,
        release=30,
        needs=("mount",),
        setting=Setting(disk=16),
    ),
    Row(id="S05", fault="file moved away for 2 leases", strike=file.moved_file, stores=SQLITE, release=10),
    Row(
        id="S06",
        fault="reader of 10 min",
        strike=file.very_long_reader,
        stores=SQLITE,
        short=0,
        release=2,
    ),
    Row(
        id="S07",
        fault="one flipped byte (images)",
        alone=file.flip_bytes,
        stores=SQLITE,
        short=20,
        release=200,
    ),
    Row(
        id="T01",
        fault="one clock an hour ahead, an hour back",
        strike=clock.wrong_clock,
        stores=POSTGRES,
        change=POSTGRES,
        short=2,
        release=60,
        needs=("faketime",),
        setting=Setting(faked=("a",)),
    ),
    Row(
        id="T02",
        fault="clocks 5 s, -5 s and 60 s off",
        strike=clock.skewed_clocks,
        stores=POSTGRES,
        release=40,
        needs=("faketime",),
        setting=Setting(faked=NAMES),
    ),
    Row(
        id="T03",
        fault="the store's clock 25 s ahead, and back",
        strike=clock.leaping_store,
        change=POSTGRES,
        release=20,
        needs=("faketime",),
        setting=Setting(faked=NAMES, own_server=True, fake_server=True, leaps=True),
    ),
    Row(
        id="T04",
        fault="500 ms back every second, 10 times",
        strike=clock.back_steps,
        stores=SQLITE,
        release=10,
        needs=("faketime",),
        setting=Setting(faked=NAMES, leaps=True),
    ),
    Row(id="T06", fault="machine suspended for 4 leases", strike=clock.suspend, release=10, setting=OWN),
    Row(id="T07", fault="newer rules of a zone on one", strike=clock.other_rules, release=5),
    Row(
        id="N01",
        fault="one instance cut off past its lease",
        strike=postgres.cut_one,
        stores=POSTGRES,
        short=3,
        release=60,
        setting=PROXIED,
    ),
    Row(
        id="N02",
        fault="links flap, 1 s on, 1 s off",
        strike=postgres.flapping,
        stores=POSTGRES,
        setting=PROXIED,
    ),
    Row(id="N03", fault="API answers lost (10 a strike)", strike=client.lost_answers, release=20),
    Row(id="N04", fault="500 readers that never read", strike=client.slow_readers, release=5),
    Row(id="L01", fault="1,000 (10,000) due in one second", strike=load.herd, release=5),
    Row(id="L02", fault="started with 1,200 (12,000) overdue", strike=load.overdue_start, release=5),
    Row(id="L03", fault="1,000 runs fail together", strike=load.dependency_down, release=5),
    Row(
        id="L04",
        fault="a million finished runs are purged",
        strike=load.big_history,
        stores=POSTGRES,
        short=0,
        release=2,
        setting=Setting(own_server=True, plan={"settings": {"retention": 3600}}),
    ),
    Row(
        id="L05",
        fault="soak of 3 h, a fault a minute",
        strike=load.soak,
        stores=POSTGRES,
        short=0,
        release=180,
        setting=Setting(own_server=True, proxied=True),
    ),
)
