"""All pages, in the order of the navigation; a path that is tried first stands before one that would swallow it."""

from __future__ import annotations

from . import (
    audit,
    calendars,
    dead_letters,
    editor,
    forecast,
    instances,
    one_run,
    one_schedule,
    overview,
    queues,
    runs,
    schedules,
    upcoming,
)
from .page import Page

PAGES: tuple[Page, ...] = (
    overview.PAGE,
    schedules.PAGE,
    schedules.BULK,
    editor.NEW,
    editor.EDIT,
    one_schedule.TRIGGER,
    one_schedule.PAGE,
    runs.PAGE,
    one_run.REDRIVE,
    one_run.PAGE,
    dead_letters.PAGE,
    dead_letters.ALL,
    upcoming.PAGE,
    forecast.PAGE,
    queues.PAGE,
    queues.LIMITS,
    calendars.PAGE,
    calendars.EDIT,
    instances.PAGE,
    audit.PAGE,
)
