"""A machine that has no thread to give."""

import threading

import pytest


def deny_threads(monkeypatch: pytest.MonkeyPatch, name: str, *, times: int = 1) -> None:
    """Refuse to start the next so many threads whose names begin like this, as the system does when it has too many."""
    really_start, left = threading.Thread.start, times

    def start(thread: threading.Thread) -> None:
        nonlocal left
        if thread.name.startswith(name) and left:
            left -= 1
            raise RuntimeError("can't start new thread")
        really_start(thread)

    monkeypatch.setattr(threading.Thread, "start", start)
