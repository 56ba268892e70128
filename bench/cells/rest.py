"""R: the REST API of a served process on a big store, and a bare route of the same framework on the same server."""

from __future__ import annotations

from bench.bench import Bench

RUNS_PER_SCHEDULE = 10
LATENCY = ("p50_ms", "p99_ms")
KINDS = (
    "get a schedule",
    "list schedules",
    "list of an owner",
    "search by name",
    "get a run",
    "list runs",
    "runs of a schedule",
)


def run(bench: Bench) -> None:
    size = bench.options.stored
    for kind in bench.options.stores:
        with bench.stores.store(kind, size) as url:
            bench.children.run("history", url=url, n=size * RUNS_PER_SCHEDULE, schedules=size)
            answers = bench.repeat(lambda url=url: bench.children.run("rest", url=url, schedules=size))  # type: ignore[misc]
        what = f"{size} schedules, {size * RUNS_PER_SCHEDULE} runs"
        for name in KINDS:
            figures = [{figure: answer[f"{name} {figure}"] for figure in LATENCY} for answer in answers]
            bench.report.add("R", f"duly/{kind}", f"{name}, {what}", figures, *LATENCY)
        bench.report.add("R", f"duly/{kind}", f"get, 16 callers, {what}", answers, "get_per_s")
        created = ("create_one_per_s", "create_16_per_s", "apply_per_s")
        bench.report.add("R", f"duly/{kind}", f"create, {what}", answers, *created)
        bench.report.add("R", "bare route", "16 callers", answers, "bare_per_s")
