"""What a page consists of: parts that are loaded and refreshed by themselves, and actions that its forms call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar
from urllib.parse import quote, urlencode

from duly.app import Duly
from duly.core.credential import Caller, Scope

from .memory import Memory

Value = TypeVar("Value")
SCHEDULES: Final = "schedules"
RUNS: Final = "runs"
"""Topics of ``live``: something about a schedule, or about a run, has changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """One request for a page, by somebody who may see it.

    ``app`` is the app as the caller sees it; ``refs`` are the variable pieces of the path; ``base`` leads from this
    page to the dashboard's own root, whatever that is mounted under.
    """

    app: Duly
    caller: Caller
    path: str
    base: str
    query: Mapping[str, str] = field(default_factory=dict)
    refs: Mapping[str, str] = field(default_factory=dict)
    repeated: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """All values of names that the query may hold several times."""
    memory: Memory = field(default_factory=Memory)

    async def remembered(self, name: str, seconds: float, make: Callable[[], Awaitable[Value]]) -> Value:
        """What was made so few seconds ago for whoever sees the same; else it is made now."""
        return await self.memory.get((name, self.caller.whose), self.app.clock.steady(), seconds, make)

    def may(self, scope: Scope) -> bool:
        return self.caller.may(scope)

    def url(self, path: str, **query: Any) -> str:
        """A link to a path of the dashboard; what is None or empty is left out of the query."""
        given = {name: value for name, value in query.items() if value not in (None, "")}
        return (
            self.base + quote(path.lstrip("/"), safe="/:@.~-_") + (f"?{urlencode(given, doseq=True)}" if given else "")
        )

    def here(self, **query: Any) -> str:
        """A link to this page with some of its query changed; None takes a name out."""
        return self.url(self.path, **{**self.query, **query})


Values = Mapping[str, Any]
Load = Callable[[View], Awaitable[Values]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A piece of a page: the block of its template that has this name.

    It is refreshed when one of the topics ``on`` changes, though not more often than every ``least`` seconds, and also
    ``every`` so many seconds. Whoever lacks the scope is not shown it.
    """

    name: str
    load: Load
    on: Sequence[str] = ()
    least: float = 1.0
    every: float | None = None
    scope: Scope = Scope.READ


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """What a form sent; a name may come several times."""

    values: Mapping[str, Sequence[str]]

    def get(self, name: str, default: str = "") -> str:
        return self.values.get(name, (default,))[0]

    def all(self, name: str) -> Sequence[str]:
        return self.values.get(name, ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Went:
    """After an action: the path of the dashboard to go to, and what to say there."""

    to: str
    said: str = ""
    query: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """After an action that was refused: the page again, with what was typed and what is wrong with it."""

    page: Page
    values: Values
    status: int = 422


Act = Callable[[View, Form], Awaitable[Went | Shown]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """What a form posts to. An error that it does not treat is said on the page that the form was on."""

    path: str
    run: Act
    scope: Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page. ``label`` puts it into the navigation; ``title`` may be a function of what its parts loaded."""

    path: str
    template: str
    title: str | Callable[[Values], str]
    parts: Sequence[Part]
    actions: Sequence[Action] = ()
    label: str | None = None
    scope: Scope = Scope.READ
