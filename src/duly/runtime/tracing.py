"""The port for traces: what is at work knows what it works for, and a tracer, where there is one, hears of it.

A trace goes from whoever asks for a schedule or a run, over the fire, to the attempts and the steps of workflows. Its
context travels in context variables inside a process, and as W3C's ``traceparent`` in the store and in messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import Context, ContextVar
from typing import Protocol

from duly.core.run import Claim, Outcome

Words = Mapping[str, str | int]
"""What a span says about itself."""

current_claim: ContextVar[Claim | None] = ContextVar("duly_claim", default=None)
"""The run that this code works for, for the lines that it logs."""

_tracing: ContextVar[Tracing | None] = ContextVar("duly_tracing", default=None)


class Tracing(Protocol):
    """What a tracer does for duly."""

    def asking(self, what: str, words: Words) -> AbstractContextManager[str | None]:
        """A span around the call that makes something; inside is its context, to be kept with what is made."""
        ...

    def begin(self, claim: Claim) -> Context:
        """Begin the span of an attempt; the attempt runs in the context, and its claim's trace is now its own."""
        ...

    def end(self, claim: Claim, outcome: Outcome) -> None:
        """End the span of an attempt."""
        ...

    def step(self, name: str, words: Words) -> AbstractContextManager[None]:
        """A span around one try at a step of a workflow; what is raised inside is its failure."""
        ...

    def arriving(self, headers: Mapping[str, str]) -> AbstractContextManager[None]:
        """Go on in the trace that a request belongs to."""
        ...


def within(tracing: Tracing, context: Context) -> Context:
    """The context, in which steps and messages find the tracer."""
    context.run(_tracing.set, tracing)
    return context


def asking(tracing: Tracing | None, what: str, words: Words) -> AbstractContextManager[str | None]:
    """``Tracing.asking``, or nothing where nobody traces."""
    return nullcontext() if tracing is None else tracing.asking(what, words)


@contextmanager
def step_span(name: str, words: Words) -> Iterator[None]:
    """A span around one try at a step, where the attempt is traced."""
    tracing = _tracing.get()
    if tracing is None:
        yield
        return
    with tracing.step(name, words):
        yield
