"""What schedules that are made together have in common: checked with the first of them, and kept for the next.

Most of a bulk say the same but for what is each one's own. Options that are the very same objects as those of the one
before were checked with it, and give the same fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from operator import is_
from typing import Any

from duly.core.schedule import Definition
from duly.store.values import NewSchedule

from .words import OWN_WORDS

_SHARED = tuple(field for field in fields(Definition) if field.name not in ("key", "timing", "payload"))


class Mould:
    """The words of one mapping of arguments, the options among them, and what came of it.

    ``fields`` are those of the definition that others share, ``facts`` the same of the facts. ``own`` are the words
    that must be read for each: none where only key, timing and payload are its own.
    """

    __slots__ = ("_options", "_shared", "_words", "facts", "fields", "own")

    def __init__(self, arguments: Mapping[str, Any], made: NewSchedule) -> None:
        self._words = [*arguments]
        self._options = [word for word in arguments if word not in OWN_WORDS]
        self._shared = [arguments[word] for word in self._options]
        own = OWN_WORDS - {"key", "timing"}
        self.own = [] if own.isdisjoint(arguments.keys() - {"payload"}) else [word for word in arguments if word in own]
        values = ((field, getattr(made.definition, field.name)) for field in _SHARED)
        self.fields = {field.name: value for field, value in values if value is not field.default}
        self.facts: dict[str, Any] = {"owner": made.facts.owner, "tenant": made.facts.tenant}

    def fits(self, arguments: Mapping[str, Any]) -> bool:
        """Whether they have the same words, and the very same options.

        What is only equal may be of another type, such as 1 and True.
        """
        return [*arguments] == self._words and all(map(is_, map(arguments.__getitem__, self._options), self._shared))
