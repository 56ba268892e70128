"""The targets of an app by name, and the handlers that deliver to them while it runs."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack

from duly.core.errors import ConfigurationError, ValidationFailed
from duly.core.outside import handler_of_target
from duly.core.schedule import Target as Aim
from duly.core.schedule import TargetKind
from duly.core.timing.refusal import shortened
from duly.engine.registry import Registry
from duly.targets.delivering import Deliverer, Surroundings
from duly.targets.registering import check_name, check_url, make_target
from duly.targets.target import Target


class Outside:
    """What an app was given as ``targets``: URLs, or targets that somebody has made. Nothing opens before it runs."""

    def __init__(self, given: Mapping[str, str | Target] | None) -> None:
        self._given: dict[str, str | Target] = {}
        self.add(given or {})

    def add(self, given: Mapping[str, str | Target]) -> None:
        """Take in more of them; those that are known by their name stay as they are."""
        if not isinstance(given, Mapping):
            raise ConfigurationError(f'targets is {given!r}; expected {{"name": "redis://host/0"}}')
        for name, target in given.items():
            check_name(name)
            if isinstance(target, str):
                check_url(name, target)
            elif not callable(getattr(target, "send", None)):
                raise ConfigurationError(f"target {name!r} is {target!r}; expected a URL, or a Target")
            self._given.setdefault(name, target)

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self._given)

    def check(self, aim: Aim) -> None:
        """Refuse a name that is not known, where names are known at all; elsewhere another instance may know it."""
        if aim.kind is TargetKind.QUEUE and self._given and aim.name not in self._given:
            raise ValidationFailed(
                f"target.name is {shortened(aim.name)}, and there is no such target; expected one of"
                f" {', '.join(sorted(self._given))}: name it in the configuration of the server, [targets.NAME]",
                field="target.name",
                got=aim.name,
                expected="the name of a target",
            )

    async def open(self, registry: Registry, stack: AsyncExitStack, around: Surroundings) -> None:
        """Make and open every target, and let the registry know who takes their runs; closed with the stack."""
        for name, given in self._given.items():
            target = make_target(name, given) if isinstance(given, str) else given
            stack.push_async_callback(target.close)
            await target.open()
            registry.put(Deliverer(target, name, around).handler(handler_of_target(name)))


NOWHERE = Outside(None)
