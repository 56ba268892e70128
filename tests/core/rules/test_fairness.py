"""Keys are served in turn."""

from hypothesis import given
from hypothesis import strategies as st

from duly.core.rules.fairness import after_key, in_turn, quota


def test_nothing_lies_between_a_key_and_the_next_one_asked_for() -> None:
    assert after_key(None) == ""
    assert "" < after_key("") <= "\x01"
    assert "a" < after_key("a") < "a\x02" < "aa"


def test_the_first_of_each_key_comes_before_the_second_of_any() -> None:
    waiting = [("a", "a1"), ("a", "a2"), ("b", "b1"), ("a", "a3"), ("c", "c1"), ("c", "c2")]
    assert [run for _, run in in_turn(["b", "c", "a"], waiting, 10)] == ["b1", "c1", "a1", "c2", "a2", "a3"]
    assert [run for _, run in in_turn(["b", "c", "a"], waiting, 2)] == ["b1", "c1"]
    assert in_turn([], [], 5) == []


def test_a_quota_fills_the_room() -> None:
    assert (quota(10, 3), quota(9, 3), quota(2, 5), quota(1, 1)) == (4, 3, 1, 1)


@given(counts=st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 20), min_size=1), room=st.integers(1, 60))
def test_nobody_who_waits_gets_less_than_another_by_more_than_one(counts: dict[str, int], room: int) -> None:
    waiting = [(key, f"{key}{n}") for key, count in counts.items() for n in range(count)]
    taken = [key for key, _ in in_turn(sorted(counts), waiting, room)]
    assert len(taken) == min(room, sum(counts.values()))
    got = {key: taken.count(key) for key in counts}
    for key, count in counts.items():
        if got[key] < count:  # still waiting
            assert max(got.values()) - got[key] <= 1
