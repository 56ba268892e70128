"""All pages, in the order of the navigation; a path that is tried first stands before one that would swallow it."""

from __future__ import annotations

from . import overview, schedules
from .page import Page

PAGES: tuple[Page, ...] = (
    overview.PAGE,
    schedules.PAGE,
)
