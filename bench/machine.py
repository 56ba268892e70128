"""What the figures were measured on, and what a process costs. Linux only: everything is read from /proc."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid: int) -> float:
    """User and system time that one process has used, all threads."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / _TICKS


def server_cpu_seconds(pid: int | None) -> float:
    """The same for a server and its living children; 0 without a server."""
    if pid is None:
        return 0.0
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        children = []
    return cpu_seconds(pid) + sum(cpu_seconds(int(child)) for child in children)


def rss_mb(pid: int) -> float:
    """Resident memory of one process, MB (10^6)."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def load_average() -> float:
    """How busy the machine was during the last minute."""
    return os.getloadavg()[0]


def describe(root: Path, postgres: str | None) -> list[str]:
    """Commit, versions and machine, one line each."""
    commit = _said(["git", "-C", str(root), "rev-parse", "--short", "HEAD"]) or "unknown"
    dirty = " with changes" if _said(["git", "-C", str(root), "status", "--porcelain", "--", "src"]) else ""
    versions = [f"{name} {_version(name)}" for name in ("duly", "apsw", "psycopg", "asyncpg", "msgspec")]
    return [
        f"commit {commit}{dirty}",
        ", ".join(
            [f"Python {platform.python_version()}", *versions, *([f"PostgreSQL {postgres}"] if postgres else [])]
        ),
        f"{os.cpu_count()} cores ({_cpu_model()}), {_memory_gib()} GiB, {platform.system()} {platform.release()}",
    ]


def _said(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"


def _cpu_model() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _memory_gib() -> int:
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)
