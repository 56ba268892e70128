"""What lists are narrowed by: what no row could have is refused, where a store would find none or fail as it likes."""

from __future__ import annotations

from duly.core.policy import choose
from duly.core.schedule import ScheduleStatus
from duly.store.values import ScheduleFilter

from .checking import check_prose, check_truth


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
