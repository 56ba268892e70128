"""What the REST API itself costs: requests in this process, without a network and with a store that only answers.

    scripts/bench --cells S
    .venv/bin/python -m bench.surface [--requests 50] [--rounds 100]

Each request goes through the whole ASGI application: guard, validation, the app's nouns, the response. The store gives
the answer that a real one gave to the first request of its kind, so no SQL is measured. Beside each stands the limit:
a bare Starlette route, in the same process and in turns with it, that reads the same body and encodes the same response
with msgspec. ``per_s`` is requests per second one after another, the best round; ``p50_us`` and ``p99_us`` are of all
rounds. On a shared machine read ``times_limit``, how many times the limit's median the median is.
"""

from __future__ import annotations

import argparse
import asyncio
import inspect
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median, quantiles
from time import perf_counter
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from duly import Duly, Every
from duly.api.application import application
from duly.core.schedule import Schedule
from tests import asgi

PATH = "/api/v1/schedules"
FIGURES = ("per_s", "p50_us", "p99_us", "limit_per_s", "limit_p50_us", "times_limit")
WARM_UPS = 100


@dataclass(frozen=True, slots=True)
class Case:
    """One kind of request, and what it is to come to."""

    name: str
    method: str
    target: str
    body: object = None
    status: int = 200
    mistakes: int = 0


GOOD = {"name": "Daily report", "cronExpression": "0 2 * * *", "timezone": "Europe/Berlin", "jobType": "report"}
WRONG = {**GOOD, "name": "", "overlapPolicy": "sometimes", "queue": 7, "priority": "high", "tags": 5}
CASES = (
    Case("GET one", "GET", f"{PATH}/report-00"),
    Case("GET list of 20", "GET", f"{PATH}?limit=20"),
    Case("POST create", "POST", PATH, {"key": "report-new", **GOOD}, 201),
    Case("PATCH", "PATCH", f"{PATH}/report-00", {"name": "Daily report", "priority": 3}),
    Case("POST with five mistakes", "POST", PATH, WRONG, 422, mistakes=5),
)


class StubStore:
    """Answers every call as the real store answered the first one of its kind."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self._answers: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._store, name)
        if not inspect.iscoroutinefunction(attribute):
            return attribute

        async def call(*args: Any, **kwargs: Any) -> Any:
            if name not in self._answers:
                self._answers[name] = await attribute(*args, **kwargs)
            return self._answers[name]

        return call

    async def change_schedule(self, ref: str, change: Callable[[Schedule, int], Any], **kwargs: Any) -> Any:
        """Let the change decide, which is not the store's work, then answer as the store did."""
        if "change_schedule" not in self._answers:
            before = await self._store.get_schedule(ref)
            self._answers["change_schedule"] = before, await self._store.change_schedule(ref, change, **kwargs)
            return self._answers["change_schedule"][1]
        before, after = self._answers["change_schedule"]
        change(before, before.facts.updated_at)
        return after


async def measure(requests: int, rounds: int) -> dict[str, dict[str, float]]:
    """Measure each case; the figures by its name."""
    app = Duly("sqlite:///:memory:")
    await app.open()
    await app.schedules.create_many(
        [{"key": f"report-{number:02}", "timing": Every("1h"), "job": "report"} for number in range(40)]
    )
    store = app._store
    app._store = StubStore(store)  # type: ignore[assignment]
    app._name_nouns()
    api = application(app)
    limits = {case.name: _limit(await _checked(api, case)) for case in CASES}
    await store.close()  # from here on the stub answers all
    return {case.name: await _measure(api, limits[case.name], case, requests, rounds) for case in CASES}


def _limit(answer: asgi.Answer) -> Starlette:
    """A bare route that reads a body and encodes the same answer."""
    document = answer.json

    async def respond(request: Request) -> Response:
        if body := await request.body():
            msgspec.json.decode(body)
        return Response(msgspec.json.encode(document), answer.status, media_type="application/json")

    return Starlette(
        routes=[Route(path, respond, methods=["GET", "POST", "PATCH"]) for path in (PATH, PATH + "/{ref}")]
    )


async def _checked(api: Any, case: Case) -> asgi.Answer:
    answer = await asgi.request(api, case.method, case.target, case.body)
    if answer.status != case.status or len(answer.json.get("errors", ())) != case.mistakes:
        raise SystemExit(f"{case.name}: {answer.status} {answer.body.decode()}")
    return answer


async def _measure(api: Any, limit: Starlette, case: Case, requests: int, rounds: int) -> dict[str, float]:
    taken: dict[str, list[float]] = {"": [], "limit_": []}
    best = {"": 0.0, "limit_": 0.0}
    for number in range(rounds + 1):
        for prefix, application_ in (("", api), ("limit_", limit)):
            times = await _round(application_, case, requests if number else WARM_UPS)
            if number:
                taken[prefix] += times
                best[prefix] = max(best[prefix], len(times) / sum(times))
    figures = {
        "per_s": best[""],
        "limit_per_s": best["limit_"],
        "times_limit": median(taken[""]) / median(taken["limit_"]),
    }
    for prefix, times in taken.items():
        figures |= {f"{prefix}p50_us": 1e6 * median(times), f"{prefix}p99_us": 1e6 * quantiles(times, n=100)[98]}
    await _checked(api, case)
    return figures


async def _round(application_: Any, case: Case, requests: int) -> list[float]:
    times = []
    for _ in range(requests):
        began = perf_counter()
        await asgi.request(application_, case.method, case.target, case.body)
        times.append(perf_counter() - began)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.surface", description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--requests", type=int, default=50, help="of each kind in a round (50)")
    parser.add_argument("--rounds", type=int, default=100, help="(100)")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    given = parser.parse_args()
    figures = asyncio.run(measure(given.requests, given.rounds))
    if given.json:
        json.dump(figures, sys.stdout)
        return
    print(f"{'request':25}" + "".join(f"{name:>14}" for name in FIGURES))
    for name, row in figures.items():
        print(f"{name:25}" + "".join(f"{row[figure]:14,.{1 if 'times' in figure else 0}f}" for figure in FIGURES))


if __name__ == "__main__":
    main()
