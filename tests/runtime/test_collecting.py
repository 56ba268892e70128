"""The garbage collector is held for a stretch, and is afterwards as it was."""

import gc
from collections.abc import Iterator

import pytest

from duly.runtime.collecting import uncollected


@pytest.fixture(autouse=True)
def collector() -> Iterator[None]:
    was_on = gc.isenabled()
    yield
    (gc.enable if was_on else gc.disable)()


def test_it_is_off_inside_and_on_again_after_a_failure_too() -> None:
    def fail() -> None:
        with uncollected():
            inside.append(gc.isenabled())
            raise ZeroDivisionError

    inside: list[bool] = []
    gc.enable()
    with pytest.raises(ZeroDivisionError):
        fail()
    assert (inside, gc.isenabled()) == ([False], True)


def test_one_that_was_off_stays_off() -> None:
    gc.disable()
    with uncollected():
        pass
    assert not gc.isenabled()


def test_of_two_threads_that_hold_it_the_last_to_leave_lets_it_go() -> None:
    gc.enable()
    first, second = uncollected(), uncollected()
    with first:
        second.__enter__()
    assert not gc.isenabled()
    second.__exit__(None, None, None)
    assert gc.isenabled()
