"""What a row needs of the machine, and why it cannot run where that is missing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from tests.servers import system_postgres, wheel_postgres

CGROUPS = Path("/sys/fs/cgroup")
FAKETIME = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1")


def _postgres() -> str | None:
    return None if system_postgres() or wheel_postgres() else "no PostgreSQL on this machine"


def _pgbouncer() -> str | None:
    found = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    return None if found else "pgbouncer is not installed"


def _faketime() -> str | None:
    return None if FAKETIME.exists() else "libfaketime is not installed (Debian: faketime)"


def _compiler() -> str | None:
    return None if shutil.which("gcc") else "gcc is not installed"


def _mount() -> str | None:
    try:
        with small_disk(1):
            return None
    except (OSError, subprocess.CalledProcessError):
        return "this machine lets us mount nothing"


def _cgroup(controller: str) -> Callable[[], str | None]:
    def look() -> str | None:
        try:
            with cgroup(controller, {}):
                return None
        except OSError as error:
            return f"no cgroup can be made below {CGROUPS / controller}: {error}"

    return look


def _program(*names: str) -> Callable[[], str | None]:
    def look() -> str | None:
        where = f"{os.environ.get('PATH', '')}:/usr/sbin:{Path(sys.executable).parent}"
        return None if any(shutil.which(name, path=where) for name in names) else f"{names[0]} is not installed"

    return look


NEEDS: dict[str, Callable[[], str | None]] = {
    "postgres": _postgres,
    "pgbouncer": _pgbouncer,
    "faketime": _faketime,
    "redis": _program("valkey-server", "redis-server"),
    "rabbitmq": _program("rabbitmq-server"),
    "nats": _program("nats-server"),
    "gcc": _compiler,
    "mount": _mount,
    "memory": _cgroup("memory"),
    "cpu": _cgroup("cpu"),
    "freezer": _cgroup("freezer"),
}


@cache
def missing(need: str) -> str | None:
    """Why a need is not met here; None if it is."""
    return NEEDS[need]()


@contextmanager
def cgroup(controller: str, limits: dict[str, str]) -> Iterator[Path]:
    """Give a control group of its own with these limits; write process ids to its ``cgroup.procs``."""
    folder = CGROUPS / controller / f"duly-chaos-{os.getpid()}"
    folder.mkdir(exist_ok=True)
    try:
        for name, value in limits.items():
            (folder / name).write_text(value)
        yield folder
    finally:
        with suppress(OSError):
            for pid in (folder / "cgroup.procs").read_text().split():
                (CGROUPS / controller / "cgroup.procs").write_text(pid)
        with suppress(OSError):
            folder.rmdir()


@contextmanager
def small_disk(megabytes: int) -> Iterator[Path]:
    """Give a folder on a file system of its own with so much room."""
    folder = Path(tempfile.mkdtemp(prefix="duly-disk-"))
    try:
        options = f"size={megabytes}m,mode=777"
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], check=True, capture_output=True)
        try:
            yield folder
        finally:
            subprocess.run(["umount", "-l", str(folder)], check=False, capture_output=True)
    finally:
        with suppress(OSError):
            folder.rmdir()


_SLOW = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>
static int slow(const char *name, int file) {
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    usleep(SYNC_US);
    return real(file);
}
int fsync(int file) { return slow("fsync", file); }
int fdatasync(int file) { return slow("fdatasync", file); }
"""


def slow_syncs(folder: Path, milliseconds: int) -> dict[str, str]:
    """An environment whose processes wait so long at every sync."""
    source, library = folder / "slow.c", folder / "slow.so"
    source.write_text(_SLOW)
    flags = ["-shared", "-fPIC", f"-DSYNC_US={milliseconds * 1000}", "-o", str(library), str(source), "-ldl"]
    subprocess.run(["gcc", *flags], check=True, capture_output=True)
    library.chmod(0o755)
    return {"LD_PRELOAD": str(library)}
