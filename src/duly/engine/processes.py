"""Handlers in a process of their own: the only kind that can be killed."""

from __future__ import annotations

import inspect
import multiprocessing
import os
import signal
from collections.abc import Callable
from importlib import import_module
from multiprocessing.connection import Connection, wait
from threading import Thread
from typing import Any

from duly.core.errors import ConfigurationError, Fatal
from duly.core.run import Claim

from .context import RunContext
from .error_reports import report_of
from .job import Job
from .outcomes import describe
from .signature import Arguments

_SPAWN = multiprocessing.get_context("spawn")
LOOK_EVERY = 0.2


class ProcessDied(Exception):
    """The handler's process ended without an answer (killed, out of memory, ``os._exit``)."""


class ProcessStopped(ProcessDied):
    """We killed the handler's process because the run had to stop."""


class HandlerFailed(Exception):
    """The handler raised in its process; the text and the report are all that crosses over."""


def run_in_process(
    function: Callable[..., Any],
    arguments: Arguments,
    context: RunContext,
    claim: Claim,
    prepare: Callable[[], object] | None = None,
) -> Any:
    """Call a handler in a spawned process and answer its value; kill it once the run should stop.

    ``prepare`` is called there first: some modules cannot be imported before something else is done.
    """
    place = _place(function)
    ours, theirs = _SPAWN.Pipe(duplex=False)
    given = (theirs, place, arguments, claim, prepare)
    process = _SPAWN.Process(target=_child, args=given, name="duly-handler", daemon=True)
    with ours:
        with theirs:
            process.start()
        try:
            return _answer(ours, process, context)
        finally:
            process.kill()
            process.join()
            process.close()


def _answer(ours: Connection, process: Any, context: RunContext) -> Any:
    begun = False
    while True:
        while not wait([ours, process.sentinel], timeout=LOOK_EVERY):
            if context.cancelled:
                raise ProcessStopped("the process was killed because the run had to stop")
            if not process.is_alive():  # one that it started itself lives on, and holds its pipes open
                break
        try:
            if not ours.poll():
                raise EOFError
            kind, value = ours.recv()
        except EOFError:
            process.join()
            raise _died(process.exitcode, begun=begun) from None
        match kind:
            case "begun":
                begun = True
            case "value":
                return value
            case _:
                text, report = value
                error = Fatal(text) if kind == "fatal" else HandlerFailed(text)
                error.duly_report = report  # type: ignore[union-attr]  # read where the outcome is made
                raise error


def _died(code: int | None, *, begun: bool) -> ProcessDied:
    text = f"the handler's process ended with exit code {code} and no answer"
    if not begun:
        text += (
            ", before the handler began: it could not import the program, and has said why on its stderr;"
            ' a program that starts when it is imported must do so under `if __name__ == "__main__":`'
        )
    return ProcessDied(text)


def _place(function: Callable[..., Any]) -> tuple[str, str]:
    """The module and name under which another process finds a function; a job stands in its function's place."""
    place = (function.__module__, function.__qualname__)
    if _found(place) is not function:
        raise ConfigurationError(
            f"{place[0]}.{place[1]} is not the function that was registered, and a process finds it by that name;"
            " register what the module names"
        )
    return place


def _found(place: tuple[str, str]) -> Any:
    found: Any = import_module(place[0])
    for name in place[1].split("."):
        found = getattr(found, name, None)
    return found.function if isinstance(found, Job) else found


def _child(
    theirs: Connection,
    place: tuple[str, str],
    arguments: Arguments,
    claim: Claim,
    prepare: Callable[[], object] | None,
) -> None:
    # Ctrl-C, and systemd, tell the whole group: the worker alone decides when this process ends. Not SIG_IGN, which
    # the handler's own subprocesses would inherit.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    Thread(target=_end_with_parent, name="duly-parent", daemon=True).start()
    theirs.send(("begun", None))
    try:
        if prepare is not None:
            prepare()
        value = _found(place)(**arguments.values(RunContext(claim)))
        if inspect.iscoroutine(value):
            value.close()
            raise Fatal("the handler's result is a coroutine that nobody awaits here; a process runs plain functions")
        answer = ("value", value)
    except Fatal as error:
        answer = ("fatal", (str(error), report_of(error)))
    except BaseException as error:  # noqa: BLE001 - around a handler: whatever it raises is its outcome
        answer = ("error", (describe(error), report_of(error)))
    try:
        theirs.send(answer)
    except OSError:
        pass  # nobody is there to hear it
    except Exception as error:  # noqa: BLE001 - around a handler's value, which may be anything
        theirs.send(("error", (describe(error), report_of(error))))


def _end_with_parent() -> None:
    """End this process when the worker is gone, however it went: another worker has the run then."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
