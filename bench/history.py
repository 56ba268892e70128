"""What really happened, read from the store and not from what the workers believe."""

from __future__ import annotations

from typing import Any

import apsw
import psycopg

COUNTS = """
SELECT count(*), count(DISTINCT schedule_id) FROM duly_history
WHERE job = 'tick' AND status = 'completed' AND window_at >= {0} AND window_at < {1}
"""
DISTINCT_WINDOWS = """
SELECT count(*) FROM (SELECT DISTINCT schedule_id, window_at FROM duly_history
WHERE job = 'tick' AND status = 'completed' AND window_at >= {0} AND window_at < {1}) AS w
"""
COMPLETED = "SELECT count(*), count(DISTINCT id) FROM duly_history WHERE job = 'tick' AND status = 'completed'"
OTHERS = "SELECT count(*) FROM duly_history WHERE job = 'tick' AND status <> 'completed'"
OPEN = "SELECT count(*) FROM duly_runs WHERE job = 'tick'"


def windows_completed(url: str, first: float, end: float) -> tuple[int, int]:
    """Completed runs whose window lies in [first, end), and how many different windows those are. Epoch seconds."""
    bounds = round(first * 1000), round(end * 1000)
    ((rows, _),) = ask(url, COUNTS.format(*bounds))
    ((distinct,),) = ask(url, DISTINCT_WINDOWS.format(*bounds))
    return rows, distinct


def runs_completed(url: str) -> tuple[int, int]:
    """Completed runs, and how many different ids those have."""
    (counts,) = ask(url, COMPLETED)
    return counts


def others(url: str) -> int:
    """Runs that ended in any other way, skipped ones among them."""
    return int(ask(url, OTHERS)[0][0])


def still_open(url: str) -> int:
    return int(ask(url, OPEN)[0][0])


def ask(url: str, statement: str) -> list[tuple[Any, ...]]:
    """Run one statement on a store nobody is using."""
    if url.startswith("sqlite"):
        connection = apsw.Connection(url.removeprefix("sqlite:///"))
        try:
            return connection.execute(statement).fetchall()
        finally:
            connection.close()
    with psycopg.connect(url) as server:
        return server.execute(statement.replace(" duly_", " duly.duly_").encode()).fetchall()
