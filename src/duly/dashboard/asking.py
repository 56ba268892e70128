"""What people ask of a page: its query, and the times that they write in its forms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from duly.api.answers import at
from duly.core.errors import DulyError
from duly.core.timing import Once

from .page import View


def asked(view: View, known: Iterable[str]) -> dict[str, str]:
    """The parts of the query that the page knows; a field that was left empty asks for nothing."""
    return {name: text for name in known if (text := view.query.get(name, "").strip())}


def instant_in(zone: str, text: str) -> str:
    """An instant as the API takes it: what the wall clock of a zone shows; what is no such time is left as it is."""
    try:
        return at(Once.local(text, zone).at)
    except DulyError:
        return text


def given(values: Mapping[str, str | None]) -> dict[str, str]:
    """What was given of a form."""
    return {name: text for name, text in values.items() if text}
