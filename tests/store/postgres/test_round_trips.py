"""How often a call waits for the server: on an idle machine that is most of what it costs."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from duly.core.rules.firing import FireRules
from duly.store.postgres.driver import PostgresDriver
from duly.store.postgres.wire import Wire
from duly.store.sql import SqlStore
from duly.store.values import Fired, Grab
from tests.store.postgres.making import JOB, RULES, SetClock, completed, new_request, new_schedule, open_session

HOUR = 3_600_000


@pytest.fixture
def trips(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was sent, an element for each time that an answer was waited for."""
    sent: list[str] = []

    def noting(name: str, words: Callable[..., str]) -> None:
        original = getattr(Wire, name)

        def noted(self: Wire, *args: Any) -> Any:
            sent.append(words(*args))
            return original(self, *args)

        monkeypatch.setattr(Wire, name, noted)

    monkeypatch.setattr(PostgresDriver, "hint", lambda self, topic: None)  # sent on a thread of their own, some time
    noting("run", lambda text: text.decode().split(" ")[0])
    noting("ask", lambda ask: ask[0].name.decode().removeprefix("duly_"))
    noting(
        "send_all",
        lambda asks, *after: "+".join([a[0].name.decode()[5:] for a in asks] + [t.decode() for t in after]),
    )
    return sent


async def sent_by(call: Callable[[], Awaitable[Any]], trips: list[str]) -> list[str]:
    """The trips of a call, once the statements of its connection are prepared."""
    await call()
    trips.clear()
    await call()
    return [*trips]


BEGUN = "begin_write+set_out"


async def test_an_idle_poll_waits_twice(store: SqlStore, trips: list[str]) -> None:
    session = await open_session(store)
    fire = await sent_by(lambda: store.fire_due(limit=10, rules=RULES), trips)
    assert fire == [f"{BEGUN}+due_cursors", "next_fire+COMMIT"]
    claim = await sent_by(lambda: store.claim_runs(session, jobs=[JOB], limit=10), trips)
    assert claim == [f"{BEGUN}+hold_session+ready_lines", "next_due+COMMIT"]
    lost = await sent_by(lambda: store.take_lost(limit=10, rules=FireRules()), trips)
    assert lost == [f"{BEGUN}+expire_sessions+lost_runs+unanswered_runs", "COMMIT"]


async def test_a_claim_from_one_queue_asks_it_once_whatever_is_not_due_elsewhere(
    store: SqlStore, clock: SetClock, trips: list[str]
) -> None:
    session = await open_session(store)
    await store.enqueue([new_request("bulk") for _ in range(20)])
    await store.enqueue([new_request("later", run_at=clock.at + HOUR)])
    claim = await sent_by(lambda: store.claim_runs(session, jobs=[JOB], limit=4), trips)
    assert claim == [f"{BEGUN}+hold_session+ready_lines", "claim_ready", "COMMIT"]
    trips.clear()
    await store.claim_runs(session, jobs=[JOB], limit=50)
    assert trips == [f"{BEGUN}+hold_session+ready_lines", "claim_ready", "next_due+COMMIT"]


async def test_a_claim_from_several_queues_asks_again_only_those_that_want_more(
    store: SqlStore, clock: SetClock, trips: list[str]
) -> None:
    session = await open_session(store)
    for queue, count in (("bulk", 40), ("mail", 1), ("sms", 1)):
        await store.enqueue([new_request(queue) for _ in range(count)])
    claimed = await store.claim_runs(session, jobs=[JOB], limit=20)
    assert len(claimed.claims) == 20
    assert 3 <= trips.count("claim_ready") <= 4


async def test_a_create_waits_once_and_a_fire_three_times_where_somebody_has_looked_who_watches(
    store: SqlStore, clock: SetClock, trips: list[str]
) -> None:
    numbers = iter(range(100))
    create = await sent_by(lambda: store.put_schedules([new_schedule(f"k{next(numbers)}")]), trips)
    assert create == [f"{BEGUN}+add_schedules_one+insert_revisions_one+take_slots+place_cursors_one+COMMIT"]
    session = await open_session(store)
    grab = Grab(session, frozenset({JOB}), 10)

    async def fire() -> Fired:
        clock.at += HOUR
        return await store.fire_due(limit=10, rules=RULES, grab=grab)

    first = await fire()
    await store.settle([completed(claim, session) for claim in first.claims])
    store._watch.saw(clock.at + HOUR, watched=False, wanted="[]")
    trips.clear()
    await fire()
    assert trips == [
        f"{BEGUN}+due_cursors",
        "open_runs+grab_session+governed_queues",
        "insert_runs+move_cursors+next_fire+COMMIT",
    ]
