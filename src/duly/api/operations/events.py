"""What can be asked about events."""

from __future__ import annotations

from collections.abc import Mapping

from duly.api import queries
from duly.api.queries import read_query
from duly.app import Duly
from duly.app.events import EventFilter, Reader
from duly.core.credential import Whose


def reader_of(app: Duly, query: Mapping[str, str], after: int | None, whose: Whose | None = None) -> Reader:
    """A place in the stream of the events that a query asks for, after the event of a number or at the end."""
    asked = read_query(query, queries.EVENTS)
    where = EventFilter(
        whose=whose,
        names=frozenset(asked.get("type", ())),
        schedule=asked.get("scheduleId"),
        job=asked.get("jobType"),
        owner=asked.get("owner"),
        tenant=asked.get("tenant"),
    )
    return app.events.reader(where, after)
