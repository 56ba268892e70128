"""A registered function: called as before, or bound to arguments that a run will be given later."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import WRAPPER_ASSIGNMENTS, update_wrapper
from typing import Any, Generic, ParamSpec, TypeVar

from duly.core.errors import ValidationFailed

from .signature import Arguments

# With its code in sight, inspect and asyncio take a job for the kind of function that it is.
_LOOKS = (*WRAPPER_ASSIGNMENTS, "__code__", "__defaults__", "__kwdefaults__")
Given = ParamSpec("Given")
Bound = ParamSpec("Bound")
Result = TypeVar("Result", covariant=True)


@dataclass(frozen=True, slots=True)
class Call:
    """A job and the payload it is to be run with; accepted wherever a job's name is."""

    job: str
    payload: Any


class Job(Generic[Given, Bound, Result]):
    """What a decorator leaves in the place of a function: the function itself, with ``bind`` beside it.

    ``Given`` are the function's parameters; ``Bound`` the same without the context, which a run brings along.
    """

    __name__: str
    __wrapped__: Callable[..., Any]

    def __init__(self, name: str, function: Callable[Given, Result], arguments: Arguments) -> None:
        update_wrapper(self, function, assigned=_LOOKS)
        self.name = name
        self.function = function
        self._arguments = arguments

    def __call__(self, *args: Given.args, **kwargs: Given.kwargs) -> Result:
        return self.function(*args, **kwargs)

    def bind(self, *args: Bound.args, **kwargs: Bound.kwargs) -> Call:
        """Check arguments against the signature now, and keep them for a run."""
        try:
            bound = self._parameters().bind(*args, **kwargs)
        except TypeError as error:
            raise ValidationFailed(
                f"{self.name}.bind: {error}; expected {inspect.signature(self.function)}",
                field="payload",
                job=self.name,
            ) from None
        return Call(self.name, self._arguments.payload(_by_name(bound)))

    def _parameters(self) -> inspect.Signature:
        signature = inspect.signature(self.function)
        context = self._arguments.context
        return signature.replace(parameters=[p for p in signature.parameters.values() if p.name != context])

    def __repr__(self) -> str:
        return f"<job {self.name!r}: {self.__wrapped__!r}>"


def _by_name(bound: inspect.BoundArguments) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in bound.arguments.items():
        if bound.signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
            values |= value
        else:
            values[name] = value
    return values
