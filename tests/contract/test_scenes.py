"""The contract asks every method that writes: what if it is cut off, and what if it is made twice."""

import inspect
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

from duly.store.protocol import Store
from tests.contract.suite import repeating, repeating_asked

READING = ("get_", "list_", "read_", "find_", "count_", "recent_", "group_", "waiting_", "declared_", "next_", "look_")
ALSO_READING = {"now", "any_open", "has_keys", "firing_state", "overdue", "stats"}
ELSEWHERE = {
    "open": "ten processes at once set up one schema",
    "close": "keeps nothing",
    "step_operation": "goes on from where it is: TestOperations",
    "notice_restore": "is mark_restored where it has something to say",
    "touch_key": "writes an instant",
    "watch_events": "is asked for again all the time: TestEvents",
    "number_events": "goes on from where it is: TestEvents",
    "purge_events": "goes on from where it is: TestEvents",
    "signal_run": "a signal that is sent again is another signal",
    "signal_with_start": "as signal_run",
}


def words_of(code: CodeType) -> Iterator[str]:
    """The names that a function asks for, and those of the functions inside it."""
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from words_of(inner)


def called(scene: Callable[..., Any]) -> set[str]:
    """What the call of a scene asks of the store; what prepares it stands outside of the lambda."""
    calls = [inner for inner in scene.__code__.co_consts if isinstance(inner, CodeType)]
    return {word for call in calls for word in words_of(call)}


def test_every_method_that_writes_is_cut_off_and_repeated() -> None:
    scenes = [*repeating.SCENES, *repeating_asked.SCENES]
    assert len({scene.__name__ for scene in scenes}) == len(scenes)
    methods = {name for name in dir(Store) if inspect.iscoroutinefunction(getattr(Store, name))}
    writing = {name for name in methods if not name.startswith(READING)} - ALSO_READING
    missing = writing - {word for scene in scenes for word in called(scene)}
    assert missing == ELSEWHERE.keys()
