"""What follows from the definition, for random expressions around the clock changes of all zones."""

from datetime import UTC, datetime
from itertools import pairwise

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from duly.core.timing import Cron
from tests.core.timing.changes import DAY, ZONES, changes, offset
from tests.core.timing.expressions import meanings
from tests.properties import examples

FOLDS = st.sampled_from(["first", "second", "both"])
GAPS = st.sampled_from(["fire_after", "skip"])
SECOND_FIELDS = st.sampled_from(["", "", "", "0 ", "*/20 ", "59 ", "0,30 "])


@st.composite
def questions(draw):
    """A cron in any zone, and an instant near a change of its offset, if the year has one."""
    zone, year = draw(st.sampled_from(ZONES)), draw(st.integers(1971, 2045))
    found = changes(zone, year) if zone != "UTC" else ()
    if found:
        change = draw(st.sampled_from(found))
        near = tuple({(change + shift) % DAY // 3600 for shift in (offset(zone, change - 1), offset(zone, change))})
    else:
        change, near = int(datetime(year, 6, 1, tzinfo=UTC).timestamp()), ()
    meaning = draw(meanings(near))
    text = draw(SECOND_FIELDS) + meaning.text
    t = change + draw(st.one_of(st.integers(-2 * DAY, 2 * DAY), st.integers(-4000, 4000)))
    return Cron(text, zone, dst_gap=draw(GAPS), dst_fold=draw(FOLDS)), t * 1000


@settings(max_examples=examples(400))
@given(questions(), st.integers(0, 100_000))
def test_next_and_latest_agree_with_each_other(question, later):
    cron, t = question
    following, latest = cron.next_after_ms(t), cron.latest_at_ms(t)
    assume(following is not None and latest is not None)
    assert latest <= t < following
    assert cron.latest_at_ms(following) == following
    assert cron.latest_at_ms(following - 1) == latest
    assert cron.next_after_ms(latest - 1) == latest
    assert cron.next_after_ms(latest) == following
    assert cron.next_after_ms(t + later * 1000) >= following


@settings(max_examples=examples(150))
@given(questions())
def test_the_latest_fire_stays_the_same_until_the_next_one(question):
    cron, t = question
    following = cron.next_after_ms(t)
    assume(following is not None)
    for between in (t, (t + following) // 2, following - 1):
        assert cron.latest_at_ms(between) == cron.latest_at_ms(t)
        assert cron.next_after_ms(between) == following


@settings(max_examples=examples(150))
@given(questions())
def test_the_datetimes_are_the_milliseconds(question):
    cron, t = question
    instant = datetime.fromtimestamp(t // 1000, UTC)
    for shown, known in (
        (cron.next_after(instant), cron.next_after_ms(t)),
        (cron.latest_at(instant), cron.latest_at_ms(t)),
    ):
        assert (None if shown is None else int(shown.timestamp()) * 1000) == known


@settings(max_examples=examples(150))
@given(questions(), st.integers(0, 3 * DAY * 1000))
def test_counting_is_walking(question, reach):
    cron, t = question
    assert cron.count_between_ms(t, t + reach) == sum(1 for _ in cron.between_ms(t, t + reach))


@settings(max_examples=examples(20))
@given(questions())
def test_counts_add_up_over_many_years(question):
    cron, t = question
    parts = [t + n * 1_234_567_891_234 for n in range(4)]
    counts = [cron.count_between_ms(a, b) for a, b in pairwise(parts)]
    assert cron.count_between_ms(parts[0], parts[-1]) == sum(counts)


@settings(max_examples=examples(150))
@given(questions())
def test_walking_forth_and_back_meets_the_same_fires(question):
    cron, t = question
    forth, at = [], t
    for _ in range(6):
        at = cron.next_after_ms(at)
        assume(at is not None)
        forth.append(at)
    back = [at]
    while len(back) < 6:
        back.append(cron.latest_at_ms(back[-1] - 1))
    assert forth == back[::-1]
    assert len(set(forth)) == 6


# Most zones change their clocks in few of these years: fifty that do not may well come before the tenth that does.
@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.filter_too_much])
@given(st.sampled_from(ZONES), st.integers(1971, 2045), st.integers(0, 23), st.integers(0, 59))
def test_a_daily_time_fires_once_on_every_local_day(zone, year, hour, minute):
    assume(zone != "UTC" and changes(zone, year))
    cron = Cron(f"{minute} {hour} * * *", zone)
    change = changes(zone, year)[0]
    fires = list(cron.between_ms((change - 5 * DAY) * 1000, (change + 5 * DAY) * 1000))
    days = [(fire // 1000 + offset(zone, fire // 1000)) // DAY for fire in fires]
    gaps = [later - earlier for earlier, later in pairwise(days)]
    # A change that leaves out a day moves its fire to the next one; a change over midnight may do the same.
    assert all(gap in (0, 1, 2) for gap in gaps)
    assert abs(len(fires) - 10) <= 1
