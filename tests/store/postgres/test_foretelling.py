"""A transaction goes by a guess at the server's clock, which the server itself compares before anything is done."""

from collections.abc import AsyncIterator

import pytest

from duly.core.errors import ValidationFailed
from duly.core.schedule import Schedule
from duly.runtime.clock import SystemClock
from duly.store.postgres import postgres_store
from duly.store.postgres.driver import PostgresDriver
from duly.store.postgres.foretelling import ServerClock
from duly.store.sql import SqlStore
from duly.store.statements import Program, group, query
from tests.store.postgres.making import PATIENT, ask, new_schedule

SECOND = 1_000_000
HOUR_MS = 3_600_000


class Steady(SystemClock):
    def __init__(self) -> None:
        self.at = 1000.0

    def steady(self) -> float:
        return self.at


@pytest.fixture
def steady() -> Steady:
    return Steady()


def test_what_was_never_read_or_long_ago_is_not_guessed(steady: Steady) -> None:
    clock = ServerClock(steady)
    assert clock.guess() is None
    clock.read(5 * SECOND)
    steady.at += 59
    assert clock.guess() is not None
    steady.at += 2
    assert clock.guess() is None


def test_a_guess_goes_on_with_time_a_little_slower_than_a_clock(steady: Steady) -> None:
    clock = ServerClock(steady)
    clock.read(5 * SECOND)
    assert clock.guess() == 5 * SECOND
    steady.at += 10
    guess = clock.guess()
    assert guess is not None
    assert 14.99 * SECOND < guess < 15 * SECOND


def test_an_answer_that_came_late_moves_no_guess_back(steady: Steady) -> None:
    clock = ServerClock(steady)
    clock.read(5 * SECOND)
    steady.at += 1
    clock.read(5 * SECOND)  # was read a second ago
    assert clock.guess() == pytest.approx(6 * SECOND, abs=1000)
    clock.read(6 * SECOND + 1)
    assert clock.guess() == 6 * SECOND + 1


def test_a_clock_that_was_set_is_guessed_anew(steady: Steady) -> None:
    clock = ServerClock(steady)
    clock.read(50 * SECOND)
    clock.forget()
    assert clock.guess() is None
    clock.read(5 * SECOND)
    assert clock.guess() == 5 * SECOND


class Wrong(ServerClock):
    """Is off by so many microseconds, until somebody says so."""

    off = 0

    def guess(self) -> int | None:
        guess = super().guess()
        return None if guess is None else guess + self.off

    def forget(self) -> None:
        super().forget()
        self.off = 0


@pytest.fixture
async def store(fresh_postgres: str) -> AsyncIterator[SqlStore]:
    """A store that goes by the server's clock, and has read it."""
    store = postgres_store(fresh_postgres, limits=PATIENT)
    await store.open()
    await store.now()
    yield store
    await store.close()


def set_off(store: SqlStore, microseconds: int) -> None:
    """Make the store's guesses wrong, until the first is found to be."""
    assert isinstance(store.driver, PostgresDriver)
    wrong = Wrong()
    truth = store.driver._transactions._server_clock.guess()
    assert truth is not None
    wrong.read(truth)
    wrong.off = microseconds
    store.driver._transactions._server_clock = wrong


class Noting:
    """A program that notes what it was told the time is."""

    def __init__(self) -> None:
        self.told: list[int] = []

    def __call__(self, now: int) -> Program[int]:
        self.told.append(now)
        yield group(query("take_slots", tenant="t", count=1), last=True)
        return now


async def test_a_good_guess_is_one_try_and_not_ahead(store: SqlStore) -> None:
    program = Noting()
    before = await store.now()
    now = await store.driver.write(program)
    assert program.told == [now]
    assert before <= now <= await store.now()


@pytest.mark.parametrize("off", [60 * SECOND, 3600 * SECOND, -2 * SECOND, -3600 * SECOND])
async def test_a_wrong_guess_does_nothing_and_is_mended(store: SqlStore, fresh_postgres: str, off: int) -> None:
    before = await store.now()
    set_off(store, off)
    program = Noting()
    now = await store.driver.write(program)
    assert len(program.told) == 2
    assert before <= now <= await store.now()
    assert ask(fresh_postgres, "SELECT slots FROM duly.duly_tenants WHERE id = 't'") == [1]


async def test_a_create_by_a_wrong_guess_is_stored_once_and_as_of_now(store: SqlStore) -> None:
    await store.put_schedules([new_schedule("first")])  # looks who watches; from now on a create is one step
    before = await store.now()
    set_off(store, 3600 * SECOND)
    (made,) = await store.put_schedules([new_schedule("a")])
    assert isinstance(made, Schedule)
    found = await store.get_schedule("a")
    assert found is not None
    assert before <= found.facts.created_at <= await store.now()
    assert made.facts.created_at == found.facts.created_at


async def test_a_read_by_a_wrong_guess_is_read_again(store: SqlStore) -> None:
    before = await store.now()
    set_off(store, 3600 * SECOND)
    told: list[int] = []

    def program(now: int) -> Program[int]:
        told.append(now)
        yield query("next_fire")
        return now

    assert before <= await store.driver.read(program) <= await store.now()
    assert len(told) == 2


async def test_whoever_only_asks_for_the_time_is_not_given_a_guess(store: SqlStore) -> None:
    before = await store.now()
    set_off(store, 3600 * SECOND)
    assert before <= await store.now() < before + HOUR_MS / 2


async def test_nothing_is_refused_because_of_a_guess_alone(store: SqlStore) -> None:
    before = await store.now()
    set_off(store, 3600 * SECOND)

    def refusing(now: int) -> Program[int]:
        if now > before + HOUR_MS / 2:
            raise ValidationFailed("this moment has gone by")
        yield query("take_slots", tenant="t", count=1)
        return now

    assert await store.driver.write(refusing) >= before
