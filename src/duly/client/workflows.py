"""``/workflows``, and what runs of workflows are sent and asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from .calls import Call
from .making import UNSET, get, given, path_of, post, segment
from .wording import camel

R = TypeVar("R")


class Workflows(Generic[R]):
    """A run is named by its id, or by the name that it was started under."""

    def __init__(self, send: Callable[[Call], R]) -> None:
        self._send = send

    def start(self, name: str, input: Any = None, *, id: str | None = None, **options: Any) -> R:
        """Start a workflow. With an ``id`` of your own it is started once, however often this is sent.

        ``options`` are ``version``, ``tags``, ``attributes``, ``singleton``, ``max_running`` and ``max_queued``.
        """
        body = {"input": input, **given(id=id, **{camel(word): value for word, value in options.items()})}
        return self._send(post(path_of("workflows", name, "runs"), body, repeatable=id is not None))

    def steps(self, ref: str) -> R:
        """What is recorded of a run, by position."""
        return self._send(get(path_of("runs", ref, "steps")))

    def signal(self, ref: str, name: str, payload: Any = UNSET) -> R:
        """Send a signal; it is kept until the run waits for it."""
        return self._send(post(_named(ref, "signals", name), _said(payload=payload)))

    def update(self, ref: str, name: str, payload: Any = UNSET) -> R:
        """Send what the validator of that name lets pass; the answer says whether it did."""
        return self._send(post(_named(ref, "updates", name), _said(payload=payload)))

    def query(self, ref: str, name: str) -> R:
        """What a run shows under a name."""
        return self._send(get(_named(ref, "values", name)))

    def publish(self, event: str, payload: Any = UNSET, *, id: str | None = None) -> R:
        """Tell all who wait for an event, and start what is declared for it; with an ``id``, once."""
        body = {**_said(payload=payload), **given(id=id)}
        return self._send(post(path_of("events", event), body, repeatable=id is not None))

    def on_event(self) -> R:
        """Which jobs and workflows events start."""
        return self._send(get("/event-handlers"))

    def complete_task(self, token: str, result: Any = UNSET) -> R:
        """End a task that was handed out. Twice is fine: the first end counts."""
        return self._send(post(path_of("tasks", token, "complete"), _said(result=result), repeatable=True))

    def fail_task(self, token: str, error: str) -> R:
        return self._send(post(path_of("tasks", token, "fail"), {"error": error}, repeatable=True))


def _said(**words: Any) -> dict[str, Any]:
    return {name: value for name, value in words.items() if value is not UNSET}


def _named(ref: str, what: str, name: str) -> str:
    return f"{path_of('runs', ref, what)}/{segment(name)}"
