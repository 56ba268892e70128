"""The targets of an app by name, and the handlers that deliver to them while it runs."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any

from duly.core.errors import ConfigurationError, ValidationFailed
from duly.core.outside import EVERYBODYS, QUEUES, Grant, handler_of_target
from duly.core.schedule import Target as Aim
from duly.core.schedule import TargetKind
from duly.core.timing.refusal import shortened
from duly.engine.registry import Registry
from duly.targets.delivering import Deliverer, Surroundings
from duly.targets.registering import check_name, check_url, make_target
from duly.targets.target import Target

from .owning import Owning
from .placing import placed

Given = str | Target | Mapping[str, Any]
"""A URL, a target that somebody has made, or ``{"url": …, "owners": […], "tenants": […]}``."""

_WORDS = frozenset({"url", "owners", "tenants"})


class Outside:
    """What an app was given as ``targets``, and whose schedules may name each. Nothing opens before it runs."""

    def __init__(self, given: Mapping[str, Given] | None) -> None:
        self._given: dict[str, str | Target] = {}
        self._grants: dict[str, Grant] = {}
        self._places: dict[str, str] = {}
        self.add(given or {})

    def add(self, given: Mapping[str, Given], *, place: str | None = None) -> None:
        """Take in more of them; those that are known by their name stay as they are.

        ``place`` is where they stand, if not in code: whoever must mend one is told of it.
        """
        if not isinstance(given, Mapping):
            raise ConfigurationError(f'targets is {given!r}; expected {{"name": "redis://host/0"}}')
        for name, target in given.items():
            with placed(place):
                where, grant = _check(name, target)
            if name not in self._given:
                self._given[name], self._grants[name] = where, grant
                if place is not None:
                    self._places[name] = place

    def check_all(self) -> None:
        """Refuse every URL that `open` would refuse; nothing is connected."""
        for name in self._given:
            self._make(name)

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self._given)

    def check(self, aim: Aim, tenant: str | None, owner: str | None) -> None:
        """Refuse a name that is not known, where names are known at all; elsewhere another instance may know it.

        One that somebody else may name is refused in the same words, so that nobody hears of it.
        """
        if aim.kind is not TargetKind.QUEUE or not self._given:
            return
        theirs = [name for name, grant in self._grants.items() if grant.covers(tenant, owner)]
        if aim.name not in theirs:
            raise ValidationFailed(
                f"target.name is {shortened(aim.name)}, and there is no such target; expected one of"
                f" {', '.join(sorted(theirs)) or 'none'}: name it in the configuration of the server, [targets.NAME]",
                field="target.name",
                got=aim.name,
                expected="the name of a target",
            )

    def hides(self, owning: Owning, queue: str) -> bool:
        """Whether a queue is that of a target which they may not name, and so must not hear of."""
        grant = self._grants.get(queue.removeprefix(QUEUES)) if queue.startswith(QUEUES) else None
        return grant is not None and owning.whose is not None and not grant.covers(owning.whose.tenant, owning.owner)

    async def open(self, registry: Registry, stack: AsyncExitStack, around: Surroundings) -> None:
        """Make and open every target, and let the registry know who takes their runs; closed with the stack."""
        for name in self._given:
            target = self._make(name)
            stack.push_async_callback(target.close)
            await target.open()
            around.observer.target_opened(name)
            deliverer = Deliverer(target, name, around, grant=self._grants[name])
            registry.put(deliverer.handler(handler_of_target(name)))

    def _make(self, name: str) -> Target:
        given = self._given[name]
        with placed(self._places.get(name)):
            return make_target(name, given) if isinstance(given, str) else given


def _check(name: str, target: Given) -> tuple[str | Target, Grant]:
    """The place and the grant of a target that may be named so, or refuse it."""
    check_name(name)
    where, grant = _read(name, target)
    if isinstance(where, str):
        check_url(name, where)
    elif not callable(getattr(where, "send", None)):
        raise ConfigurationError(f"target {name!r} is {where!r}; expected a URL, or a Target")
    return where, grant


def _read(name: str, given: Given) -> tuple[str | Target, Grant]:
    """The place, and whose schedules may name it."""
    if not isinstance(given, Mapping):
        return given, EVERYBODYS
    if set(given) - _WORDS or "url" not in given:
        raise ConfigurationError(
            f"target {name!r} has {', '.join(map(str, given)) or 'nothing'}; expected url, and owners and tenants"
        )
    return given["url"], Grant(*(_names(name, word, given.get(word, ())) for word in ("owners", "tenants")))


def _names(name: str, word: str, given: Any) -> frozenset[str]:
    if isinstance(given, str) or not all(isinstance(one, str) and one for one in given):
        raise ConfigurationError(f'target {name!r}: {word} is {given!r}; expected names, e.g. ["ann"]')
    return frozenset(given)


NOWHERE = Outside(None)
