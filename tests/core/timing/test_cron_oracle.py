"""Cron against the definition taken literally: every minute of a few days, one by one."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache

from hypothesis import given, settings
from hypothesis import strategies as st

from duly.core.timing import Cron
from tests.core.timing.changes import DAY, ZONES, changes, offset, tz
from tests.core.timing.expressions import Meaning, meanings
from tests.properties import examples

MINUTE = 60
REACH = 2 * DAY


@lru_cache(maxsize=64)
def clock(zone: str, change: int) -> tuple[dict[datetime, list[int]], list[tuple[int, datetime]]]:
    """What the wall clock shows at each minute around a change: by local time, and in order of the instants."""
    shown = [
        (t, datetime.fromtimestamp(t, tz(zone)).replace(tzinfo=None))
        for t in range(change - REACH, change + REACH, MINUTE)
    ]
    by_local: dict[datetime, list[int]] = {}
    for t, local in shown:
        by_local.setdefault(local, []).append(t)
    return by_local, shown


def instants(meaning: Meaning, gap: str, fold: str, zone: str, change: int) -> list[int]:
    """F(expression, zone) around a change, by walking every local minute, shown or not."""
    by_local, shown = clock(zone, change)
    if meaning.open_hour:
        return [t for t, local in shown if meaning.names(local)]
    found: set[int] = set()
    local, last = min(by_local), max(by_local)
    while local <= last:
        if meaning.names(local):
            passes = by_local.get(local)
            if passes is None:
                if gap == "fire_after":
                    found.add(change)
            elif fold == "both":
                found.update(passes)
            else:
                found.add(passes[0] if fold == "first" else passes[-1])
        local += timedelta(minutes=1)
    return sorted(found)


@lru_cache(maxsize=1)
def whole_minute_changes() -> list[tuple[str, int]]:
    """Changes on whole minutes between offsets of whole minutes, which is all that a walk over minutes can judge."""
    found = []
    for index, zone in enumerate(ZONES[1:]):
        for year in (1981 + index % 9, 1999, 2011, 2026):
            for change in changes(zone, year):
                before, after = offset(zone, change - 1), offset(zone, change)
                if change % 60 == before % 60 == after % 60 == 0:
                    found.append((zone, change))
    return found


@settings(max_examples=examples(250))
@given(st.data())
def test_the_evaluator_is_the_definition(data):
    zone, change = data.draw(st.sampled_from(whole_minute_changes()))
    hours = tuple({(change + shift) % DAY // 3600 for shift in (offset(zone, change - 1), offset(zone, change))})
    meaning = data.draw(meanings(hours))
    gap = data.draw(st.sampled_from(["fire_after", "fire_after", "skip"]))
    fold = data.draw(st.sampled_from(["first", "first", "second", "both"]))
    expected = instants(meaning, gap, fold, zone, change)
    cron = Cron(meaning.text, zone, dst_gap=gap, dst_fold=fold)
    also = Cron(meaning.also, zone, dst_gap=gap, dst_fold=fold)
    # Near its ends the walk does not know whether a time is shown again outside.
    low, high = change - REACH + DAY + 3600, change + REACH - DAY - 3600
    inner = [t for t in expected if low < t <= high]
    for spelling in (cron, also):
        assert [fire // 1000 for fire in spelling.between_ms(low * 1000, high * 1000)] == inner
    asked = data.draw(st.lists(st.integers(low, high), min_size=3, max_size=3))
    for t in (*asked, change - 1, change, change + 1):
        after = [fire for fire in inner if fire > t]
        before = [fire for fire in inner if fire <= t]
        if after:
            assert cron.next_after_ms(t * 1000) == after[0] * 1000
        if before:
            assert cron.latest_at_ms(t * 1000 + 999) == before[-1] * 1000


@settings(max_examples=examples(60))
@given(meanings(), st.integers(-2_000_000_000, 8_000_000_000))
def test_in_utc_the_evaluator_is_a_walk_over_minutes(meaning, t):
    cron = Cron(meaning.text)
    first = t // MINUTE * MINUTE
    epoch = datetime(1970, 1, 1)  # noqa: DTZ001
    minutes = range(first - DAY, first + DAY + MINUTE, MINUTE)
    expected = [at for at in minutes if meaning.names(epoch + timedelta(seconds=at))]
    found = [fire // 1000 for fire in cron.between_ms((first - DAY) * 1000 - 1, (first + DAY) * 1000)]
    assert found == expected
    assert datetime.fromtimestamp(first, UTC).second == 0
