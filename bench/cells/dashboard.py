"""V: the dashboard in a real browser on a big store: the first view, what an open page costs, and a busy tab."""

from __future__ import annotations

from bench.bench import Bench

RUNS_PER_SCHEDULE = 1
VIEWS = ("overview", "schedules")
FIRST = ("first_ms", "first_kb", "live_ms", "server_cpu_ms")


def run(bench: Bench) -> None:
    size = bench.options.stored
    for kind in bench.options.stores:
        with bench.stores.store(kind, size) as url:
            bench.children.run("history", url=url, n=size * RUNS_PER_SCHEDULE, schedules=size)
            answers = bench.repeat(lambda url=url: bench.children.run("dashboard", url=url))  # type: ignore[misc]
        what = f"{size} schedules, {size * RUNS_PER_SCHEDULE} runs"
        for view in VIEWS:
            figures = [{figure: answer[f"{view} {figure}"] for figure in FIRST} for answer in answers]
            bench.report.add("V", f"duly/{kind}", f"{view}, first view, {what}", figures, *FIRST)
        bench.report.add("V", f"duly/{kind}", f"an open page, {what}", answers, "open_cpu_percent")
        busy = ("updates_per_min", "long_tasks_ms", "longest_task_ms", "busy_cpu_percent")
        bench.report.add("V", f"duly/{kind}", f"a busy page, {what}", answers, *busy)
