"""The payload is the signature: a handler's parameters are the payload's keys, decoded by their annotations."""

from __future__ import annotations

import inspect
import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Annotated, Any, get_origin, get_type_hints

import msgspec

from duly.core.errors import ConfigurationError, ValidationFailed

from .context import RunContext

log = logging.getLogger("duly.engine")

_decode = msgspec.json.Decoder().decode
_CONTEXT = re.compile(r"['\"]?([\w.]+\.)?RunContext['\"]?")


@dataclass(frozen=True, slots=True)
class Arguments:
    """How to call a handler: where the context goes, and what the payload must hold."""

    job: str
    context: str | None
    whole: str | None
    fields: dict[str, tuple[Any, bool]]
    takes_rest: bool

    def values(self, context: RunContext) -> dict[str, Any]:
        """The keyword arguments of one call."""
        values = self.decode(context.payload) if self.fields or self.takes_rest else {}
        if self.context is not None:
            values[self.context] = context
        return values

    def check(self, payload: str) -> None:
        """Refuse, before anything is stored, a payload that the handler could not take."""
        if self.fields or self.takes_rest:
            self.decode(_decode(payload))

    def payload(self, values: dict[str, Any]) -> Any:
        """The payload, as plain JSON values, that gives a handler these arguments; refuse what it could not take."""
        payload = values[self.whole] if self.whole is not None else values
        try:
            plain = msgspec.to_builtins(payload, str_keys=True)
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            raise self._refuse(f"is not JSON: {error}; bind plain values") from None
        self.decode(plain)
        return plain

    def decode(self, payload: Any) -> dict[str, Any]:
        """Read the payload as keyword arguments."""
        if self.whole is not None:
            return {self.whole: self._convert(self.whole, payload, self.fields[self.whole][0])}
        if not isinstance(payload, dict):
            raise self._refuse(f"is {_shown(payload)}; expected an object with {self._expected()}")
        unknown = payload.keys() - self.fields.keys()
        if unknown and not self.takes_rest:
            raise self._refuse(f"has unknown {', '.join(sorted(map(repr, unknown)))}; expected {self._expected()}")
        values: dict[str, Any] = {}
        for name, (kind, required) in self.fields.items():
            if name in payload:
                values[name] = self._convert(name, payload[name], kind)
            elif required:
                raise self._refuse(f"lacks {name!r}; expected {self._expected()}")
        if self.takes_rest:
            values |= {name: payload[name] for name in unknown}
        return values

    def _convert(self, name: str, value: Any, kind: Any) -> Any:
        if kind is Any:
            return value
        try:
            return msgspec.convert(value, kind, str_keys=True)  # the keys of a JSON object are texts
        except msgspec.ValidationError as error:
            raise self._refuse(f"has {name!r} = {_shown(value)}: {error}") from None

    def _expected(self) -> str:
        names = [name if required else f"{name} (optional)" for name, (_, required) in self.fields.items()]
        return ", ".join(names) or "no keys"

    def _refuse(self, what: str) -> ValidationFailed:
        return ValidationFailed(f"payload of job {self.job!r} {what}", field="payload", job=self.job)


def arguments_of(job: str, function: Callable[..., Any]) -> Arguments:
    """Read a function's parameters."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        raise ConfigurationError(f"job {job!r}: the parameters of {function!r} cannot be read") from None
    hints = _hints(job, function, parameters)
    context: str | None = None
    fields: dict[str, tuple[Any, bool]] = {}
    takes_rest = False
    for place, parameter in enumerate(parameters):
        hint = hints.get(parameter.name, Any)
        if parameter.kind is parameter.VAR_KEYWORD:
            takes_rest = True
        elif parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL):
            raise ConfigurationError(
                f"job {job!r}: parameter {parameter.name!r} is positional only; the payload is passed by name"
            )
        elif _bare(hint) is RunContext or (place == 0 and parameter.name == "run"):
            context = parameter.name
        else:
            fields[parameter.name] = (hint, parameter.default is parameter.empty)
    whole = "payload" if list(fields) == ["payload"] else None
    return Arguments(job, context, whole, fields, takes_rest)


def _hints(job: str, function: Callable[..., Any], parameters: list[inspect.Parameter]) -> dict[str, Any]:
    """The parameters' annotations; one that cannot be resolved is left out, and takes its value as it is."""
    try:
        return get_type_hints(function, include_extras=True)
    except Exception:  # noqa: BLE001 - one of them is for type checkers alone: look at each by itself
        named = {one.name: one.annotation for one in parameters if one.annotation is not one.empty}
        hints = {name: _hint(job, function, name, annotation) for name, annotation in named.items()}
    return {name: hint for name, hint in hints.items() if hint is not None}


def _hint(job: str, function: Callable[..., Any], name: str, annotation: Any) -> Any:
    if isinstance(annotation, str) and _CONTEXT.fullmatch(annotation.strip()):
        return RunContext  # also where it is imported for type checkers only
    alone = SimpleNamespace(__annotations__={name: annotation})
    try:
        return get_type_hints(alone, getattr(inspect.unwrap(function), "__globals__", {}), include_extras=True)[name]
    except Exception as error:  # noqa: BLE001 - whatever a text may raise when it is read as Python
        log.warning(
            "job %r: the annotation of %r is %r, which cannot be resolved (%s: %s), so any value is taken for it;"
            " define what it names at the top level of its module",
            job, name, annotation, type(error).__name__, error, extra={"job": job},
        )  # fmt: skip
        return None


def _bare(hint: Any) -> Any:
    return hint.__origin__ if get_origin(hint) is Annotated else hint


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
