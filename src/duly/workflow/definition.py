"""A workflow as it was declared: its function, its name and its version."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_type_hints

import msgspec

from duly.core.errors import ConfigurationError, ValidationFailed
from duly.core.marks import make_marks
from duly.core.steps import handler_name
from duly.engine.registry import check_job_name

_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,49}", re.ASCII)
_NUMBER = re.compile(r"(\d+)")


@dataclass(frozen=True, slots=True)
class Workflow:
    """One version of a workflow. Calling it runs the body, for tests, with whatever context it is given."""

    name: str
    version: str
    function: Callable[..., Coroutine[Any, Any, Any]]
    input: Any = Any
    takes_input: bool = True
    timeout_ms: int | None = None
    """How long a run may take in all, sleeps included."""
    updates: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    """What checks an update before the run hears of it, by name."""
    marks: Mapping[str, str] = field(default_factory=dict)
    """The tags of all its runs."""

    @property
    def handler(self) -> str:
        return handler_name(self.name, self.version)

    @property
    def age(self) -> tuple[tuple[int, int, str], ...]:
        """What versions are sorted by: numbers as numbers, 10 after 9."""
        parts = [part for part in _NUMBER.split(self.version) if part]
        return tuple((1, int(part), "") if part.isdigit() else (0, 0, part) for part in parts)

    def read_input(self, value: Any) -> Any:
        """The input as the body's annotation wants it; refuse one that it could not take."""
        if not self.takes_input or self.input is Any:
            return value
        try:
            return msgspec.convert(value, self.input)
        except msgspec.ValidationError as error:
            raise ValidationFailed(
                f"the input of workflow {self.name!r} is refused: {error}", field="input", workflow=self.name
            ) from None

    def __call__(self, *args: Any, **kwargs: Any) -> Coroutine[Any, Any, Any]:
        return self.function(*args, **kwargs)


def make_workflow(
    name: str,
    version: str,
    function: Any,
    updates: Mapping[str, Callable[[Any], Any]] | None = None,
    timeout_ms: int | None = None,
    tags: Sequence[str] = (),
) -> Workflow:
    """Look at a function once, when it is declared, and say what is wrong with it."""
    check_job_name(name)
    if "@" in name:
        raise ConfigurationError(f"workflow {name!r}: a name has no @; it parts a name from its version")
    if not isinstance(version, str) or not _VERSION.fullmatch(version):
        raise ConfigurationError(
            f"workflow {name!r}: version is {version!r}; expected 1 to 50 of A-Z a-z 0-9 . _ + -, e.g. '2'"
        )
    if isinstance(function, Workflow):
        function = function.function
    if not inspect.iscoroutinefunction(function):
        raise ConfigurationError(f"workflow {name!r} is {function!r}; expected `async def body(ctx, input)`")
    parameters = [
        p
        for p in inspect.signature(function).parameters.values()
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    if not 1 <= len(parameters) <= 2:
        raise ConfigurationError(
            f"workflow {name!r} takes {len(parameters)} parameters; expected (ctx) or (ctx, input)"
        )
    kind: Any = Any
    if len(parameters) == 2:
        try:
            kind = get_type_hints(function).get(parameters[1].name, Any)
        except (NameError, TypeError):
            kind = Any
    for update, check in (updates or {}).items():
        if not callable(check):
            raise ConfigurationError(f"workflow {name!r}: update {update!r} is {check!r}; expected a function")
    return Workflow(
        name, version, function, kind, len(parameters) == 2, timeout_ms, dict(updates or {}), make_marks(tags)
    )


class Workflows:
    """The workflows that an app knows, by name and version."""

    def __init__(self) -> None:
        self._known: dict[str, dict[str, Workflow]] = {}

    def add(self, workflow: Workflow) -> None:
        versions = self._known.setdefault(workflow.name, {})
        known = versions.get(workflow.version)
        if known is not None and known.function is not workflow.function:
            raise ConfigurationError(
                f"workflow {workflow.name!r} version {workflow.version!r} is declared twice; give one of them another"
                " version"
            )
        versions[workflow.version] = workflow

    def get(self, name: str, version: str | None = None) -> Workflow | None:
        """That version, or the newest."""
        versions = self._known.get(name, {})
        if version is not None:
            return versions.get(version)
        return max(versions.values(), key=lambda workflow: workflow.age, default=None)

    def all(self) -> list[Workflow]:
        return [workflow for versions in self._known.values() for workflow in versions.values()]

    def versions(self, name: str) -> list[str]:
        return sorted(self._known.get(name, {}))
