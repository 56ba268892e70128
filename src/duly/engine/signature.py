"""The payload is the signature: a handler's parameters are the payload's keys, decoded by their annotations."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, get_type_hints

import msgspec

from duly.core.errors import ConfigurationError, ValidationFailed

from .context import RunContext

_decode = msgspec.json.Decoder().decode


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
            plain = msgspec.to_builtins(payload)
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
            return msgspec.convert(value, kind)
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
    try:
        hints = get_type_hints(function)
    except Exception:  # noqa: BLE001 - annotations that only a type checker can resolve: the payload is then taken as it is
        hints = {}
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
        elif hint is RunContext or (place == 0 and parameter.name == "run"):
            context = parameter.name
        else:
            fields[parameter.name] = (hint, parameter.default is parameter.empty)
    whole = "payload" if list(fields) == ["payload"] else None
    return Arguments(job, context, whole, fields, takes_rest)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
