"""Handlers that run in processes of their own: a spawned process finds them by name."""

import asyncio
import os
import signal
import subprocess
import time
from pathlib import Path

from duly import Fatal, RunContext, Snooze


def add(run: RunContext, a: int, b: int = 1) -> dict:
    return {"sum": a + b, "pid": os.getpid(), "id": run.id, "attempt": run.attempt}


def stay(path: str) -> str:
    """Say who we are, then stay until killed."""
    note = Path(f"{path}.new")
    note.write_text(str(os.getpid()))
    note.rename(path)  # whole or not at all: we may be killed while we write
    time.sleep(600)
    return "too late"


def fail(kind: str) -> object:
    match kind:
        case "error":
            raise ValueError("in its own words")
        case "fatal":
            raise Fatal("never again")
        case "exit":
            os._exit(7)
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "sys":
            raise SystemExit(4)
        case "pickle":
            return lambda: None
        case "await":
            return asyncio.sleep(0)
    return None


def snooze_once(path: str) -> object:
    if Path(path).exists():
        return "rested"
    Path(path).touch()
    return Snooze(seconds=0.1)


def hear_signals(path: str, gate: str) -> dict:
    """Survive what the whole group is told until the gate opens, and leave our own children mortal."""
    Path(path).write_text(str(os.getpid()))
    with Path(gate).open() as opened:
        opened.readline()
    child = subprocess.Popen(["sleep", "600"])
    child.terminate()
    return {"child": child.wait(60)}
