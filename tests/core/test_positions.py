"""Where runs stand in lists: one order for all, and cursors that find their way back into it."""

from random import Random

import pytest

from duly.core.ids import named_run_id, uuid7, window_run_id
from duly.core.positions import CEILING, Position, instant_of, is_dated, position_of, read_position

AT = 1_800_000_000_000


def test_an_id_that_begins_with_the_instant_of_its_run_is_its_place() -> None:
    id = uuid7(AT, bytes(10))
    assert position_of(id, "direct", AT + 7) == Position(AT, id), "a request is written a little later"
    assert position_of(id, "direct", AT).cursor == id
    window = window_run_id("s", AT)
    assert position_of(window, "window", AT) == Position(AT, window)


@pytest.mark.parametrize(
    "id",
    [
        named_run_id("", "order-42"),
        "00000000-0000-4000-8000-000000000000",
        "ffffffff-ffff-ffff-ffff-ffffffffffff",
        uuid7(AT - 3_600_000, bytes(10)),
        uuid7(AT + 3_600_000, bytes(10)),
    ],
)
def test_a_run_with_another_id_stands_at_its_instant(id: str) -> None:
    place = position_of(id, "direct", AT)
    assert place == Position(AT, id)
    assert read_position(place.cursor) == place


def test_what_is_for_an_instant_far_ahead_is_undated_and_its_id_is_its_cursor() -> None:
    id = uuid7(2**42, bytes(10))
    assert not is_dated(id, "window", 2**42)
    assert position_of(id, "direct", 2**42).cursor == id


@pytest.mark.parametrize("seed", range(50))
def test_a_bound_parts_the_dated_runs_as_the_order_does(seed: int) -> None:
    draw = Random(seed)
    dated = [uuid7(AT + draw.randrange(4), draw.randbytes(10)) for _ in range(20)]
    heads = [AT + draw.randrange(-1, 5), 0, 2**48 - 1]
    place = Position(AT + draw.randrange(-1, 5), uuid7(draw.choice(heads), draw.randbytes(10)))
    for id in dated:
        assert (Position(instant_of(id), id) < place) == (id < place.bound)
    assert place.bound <= CEILING


@pytest.mark.parametrize(
    "text",
    ["", ".", "x", "5", "5.", f"x.{CEILING}", f".{CEILING}", f"--5.{CEILING}", f"5.5.{CEILING}", f"{10**17}.{CEILING}"],
)
def test_what_is_no_cursor_is_none(text: str) -> None:
    assert read_position(text) is None
