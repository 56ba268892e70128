"""M: runs delivered to queues of others, beside the bare client of that queue in the same process.

A delivery is fired, claimed, sent, confirmed and settled; the bare client only sends and waits for the confirm.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from bench.bench import Bench
from tests.servers import ServerAbsent, redis_server

SHOWN = ("per_s", "bare_per_s", "cpu_us")


def run(bench: Bench) -> None:
    n = bench.options.queue
    for name, queue in (("redis", _redis),):
        try:
            with queue() as target:
                for kind in bench.options.stores:
                    answers = bench.repeat(partial(deliver, bench, kind, target, n))
                    bench.report.add("M", f"duly/{kind}", f"deliver {n} to {name}", answers, *SHOWN)
        except ServerAbsent as absent:
            bench.report.say(f"M {name}: {absent}")


def deliver(bench: Bench, kind: str, target: str, n: int) -> dict[str, float]:
    with bench.stores.store(kind) as url:
        return bench.children.run("deliver", url=url, target=target, n=n)


@contextmanager
def _redis() -> Iterator[str]:
    """A Redis that syncs every confirmed message, as docs/targets.md asks for."""
    with redis_server(durable=True) as server:
        yield f"{server.url}?stream=bench&maxlen=100000"
