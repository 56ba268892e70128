"""Keys and queues are served in turn."""

from hypothesis import given
from hypothesis import strategies as st

from duly.core.rules.fairness import after_key, in_turn, quota, shares, shuffled


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


def shared(counts: dict[str, int], room: int) -> tuple[dict[str, int], int]:
    """How many of the runs that wait in each queue are taken, and how often a queue was asked."""
    taken: list[str] = []
    asked = 0
    for queue, share in shares(list(counts), room, taken):
        assert 0 < share <= room - len(taken)
        asked += 1
        taken += [queue] * min(share, counts[queue] - taken.count(queue))
    return {queue: taken.count(queue) for queue in counts}, asked


def test_a_long_queue_leaves_the_others_their_share_and_has_what_they_leave() -> None:
    assert shared({"bulk": 8000, "default": 5, "mail": 5}, 100) == ({"bulk": 90, "default": 5, "mail": 5}, 4)
    assert shared({"bulk": 8000, "mail": 8000}, 5) == ({"bulk": 3, "mail": 2}, 2)
    assert shared({"mail": 5, "bulk": 8000}, 100) == ({"mail": 5, "bulk": 95}, 2)


def test_a_queue_that_is_alone_is_asked_once() -> None:
    assert shared({"bulk": 8000}, 100) == ({"bulk": 100}, 1)
    assert shared({"bulk": 7}, 100) == ({"bulk": 7}, 1)
    assert shared({"bulk": 7}, 0) == ({"bulk": 0}, 0)


@given(counts=st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 20), min_size=1), room=st.integers(0, 60))
def test_a_claim_is_as_full_as_it_can_be_and_each_queue_has_its_share(counts: dict[str, int], room: int) -> None:
    got, asked = shared(counts, room)
    assert sum(got.values()) == min(room, sum(counts.values()))
    assert all(got[queue] >= min(counts[queue], room // len(counts)) for queue in counts)
    assert asked <= 2 * len(counts)


@given(seeds=st.lists(st.text(), min_size=100, max_size=100, unique=True))
def test_each_queue_comes_first_in_its_time(seeds: list[str]) -> None:
    orders = [shuffled(["bulk", "default", "mail"], seed) for seed in seeds]
    assert {order[0] for order in orders} == {"bulk", "default", "mail"}
    assert all(sorted(order) == ["bulk", "default", "mail"] for order in orders)
    assert orders == [shuffled(["mail", "bulk", "default"], seed) for seed in seeds]
