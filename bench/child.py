"""The child process: runs one piece of ``bench.inside`` and writes its answer as the last line of its output."""

from __future__ import annotations

import asyncio
import json
import sys
from importlib import import_module
from typing import Any


def _slow_sqlite() -> Any:
    """Here, not above: what a process has imported counts in its memory."""
    from bench.slow_disk import slow_sqlite

    return slow_sqlite()


def main() -> None:
    arguments: dict[str, Any] = json.loads(sys.argv[1])
    inside = import_module(f"bench.inside.{arguments.pop('inside')}")
    profile = arguments.pop("profile", None)
    disk = _slow_sqlite() if arguments.pop("slow_sqlite", False) else None
    if profile:
        from bench.profiling import profiled

        answer = profiled(lambda: asyncio.run(inside.main(**arguments)), profile)
    else:
        answer = asyncio.run(inside.main(**arguments))
    del disk  # in use until here
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
