"""What lists are narrowed by: what no row could have is refused, where a store would find none or fail as it likes."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, TypeVar, cast

from duly.core.policy import choose
from duly.core.schedule import ScheduleStatus
from duly.store.values import ScheduleFilter

from .checking import check_prose, check_truth, check_words

Method = TypeVar("Method", bound=Callable[..., Any])


def naming(call: str) -> Callable[[Method], Method]:
    """Let a method whose words are its parameters refuse others by name, as ``check_words`` does for the rest."""

    def decorate(method: Method) -> Method:
        known = frozenset(signature(method).parameters) - {"self"}

        @wraps(method)
        def checked(*args: Any, **given: Any) -> Any:
            check_words(call, given, known)
            return method(*args, **given)

        return cast(Method, checked)

    return decorate


def check_filters(**texts: str | None) -> None:
    for name, text in texts.items():
        check_prose(text, name, 4096)


def schedule_filter(*, status: str | None = None, enabled: bool | None = None, **texts: str | None) -> ScheduleFilter:
    """The filter of a list of schedules, if each of its words can be met."""
    if status is not None:
        choose(ScheduleStatus, status, "status")
    if enabled is not None:
        check_truth(enabled, "enabled")
    check_filters(**texts)
    return ScheduleFilter(status=status, enabled=enabled, **texts)
