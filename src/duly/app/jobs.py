"""``Jobs``: jobs and schedules declared without an app, to be included in one."""

from __future__ import annotations

from collections.abc import Callable

from duly.core.errors import ConfigurationError

from .declaring import Declaration, Declaring


class Jobs(Declaring):
    """Declares as an app does, for modules that know no app; ``app.include(jobs)`` brings them in."""

    def __init__(self) -> None:
        self._declared: dict[str, Declaration] = {}
        self._takers: list[Callable[[Declaration], None]] = []

    def _declare(self, declaration: Declaration) -> None:
        name = declaration.name
        if name in self._declared:
            raise ConfigurationError(f"job {name!r} is declared twice in these jobs; give one of them another name")
        for take in self._takers:
            take(declaration)
        self._declared[name] = declaration

    def _give(self, take: Callable[[Declaration], None]) -> None:
        """Hand over what is declared, and from now on what will be: a module may be imported after the include."""
        for declaration in self._declared.values():
            take(declaration)
        self._takers.append(take)
