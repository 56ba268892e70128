"""Places for tests that start processes: so many such tests run at once on a machine, whatever else runs beside."""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

PLACES = 2


@contextmanager
def a_place() -> Iterator[None]:
    """Hold one of the locks that all test processes of this machine share."""
    with ExitStack() as stack:
        folder = Path(tempfile.gettempdir())
        locks = [stack.enter_context((folder / f"duly-processes-{n}.lock").open("w")) for n in range(PLACES)]
        if not any(_taken(lock) for lock in locks):
            fcntl.flock(locks[os.getpid() % PLACES], fcntl.LOCK_EX)
        yield


def _taken(lock: IO[str]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
