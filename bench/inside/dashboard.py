"""Looks at a served dashboard with Chromium: how soon it is seen, how much comes, and what it costs while open."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

from playwright.async_api import Browser, Page, async_playwright

from bench.inside.rest import served
from duly import Duly, RunContext

VIEWS = {"overview": "/", "schedules": "/schedules"}
LOOKS = 7
OPEN_FOR = 10.0
BEAT = 0.1
RUNS_PER_BEAT = 9
"""Each is told twice, when it starts and when it ends: 10,800 updates a minute."""

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
WATCH = """() => {
  window.tasks = [];
  new PerformanceObserver((list) => list.getEntries().forEach((task) => tasks.push(task.duration)))
    .observe({ type: "longtask", buffered: true });
}"""
SEEN = """() => {
  const [page] = performance.getEntriesByType("navigation");
  const all = [page, ...performance.getEntriesByType("resource")].filter((one) => !one.name.endsWith("/live"));
  const painted = performance.getEntriesByName("first-contentful-paint")[0].startTime;
  return {
    ms: Math.max(page.loadEventEnd, painted), live_ms: performance.now(),
    bytes: all.reduce((sum, one) => sum + one.transferSize, 0),
  };
}"""
"""A view is there when what it waits for is loaded and it is painted; bytes are counted until it is live."""


async def main(url: str) -> dict[str, float]:
    answers: dict[str, float] = {}
    program = shutil.which("chromium") or shutil.which("google-chrome")
    command = [sys.executable, "-m", "duly", "api", "--database-url", url, "--port"]
    with served(command, "/readyz") as (address, pid):
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=program, args=FLAGS)
            for name, path in VIEWS.items():
                seen = [await _first_view(browser, address + path, pid) for _ in range(LOOKS)]
                answers[f"{name} first_ms"] = median(one["ms"] for one in seen)
                answers[f"{name} live_ms"] = median(one["live_ms"] for one in seen)
                answers[f"{name} server_cpu_ms"] = median(one["server_cpu_ms"] for one in seen)
                answers[f"{name} first_kb"] = max(one["bytes"] for one in seen) / 1024
            page = await browser.new_page()
            await page.goto(address + "/")
            await page.wait_for_selector('[data-pulse="on"]')
            await asyncio.sleep(3)
            answers["open_cpu_percent"] = await _cost(pid, asyncio.sleep(OPEN_FOR))
            answers |= await _busy(url, page, pid)
            await browser.close()
    return answers


async def _first_view(browser: Browser, address: str, pid: int) -> dict[str, float]:
    context = await browser.new_context()
    page = await context.new_page()
    before = _cpu_ms(pid)
    await page.goto(address, wait_until="load")
    await page.wait_for_selector('[data-pulse="on"]')
    seen: dict[str, float] = await page.evaluate(SEEN)
    seen["server_cpu_ms"] = _cpu_ms(pid) - before
    await context.close()
    return seen


def _cpu_ms(pid: int) -> float:
    """The CPU that a process took; of a page it takes less than a tick of ``stat``."""
    threads = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1_000_000


async def _busy(url: str, page: Page, pid: int) -> dict[str, float]:
    """What a tab suffers while thousands of runs come and go."""
    app = Duly(url, roles=("worker",))

    @app.job("blink")
    async def blink(run: RunContext) -> None:
        return None

    async with app:
        await page.evaluate(WATCH)
        began, made = time.perf_counter(), 0

        async def work() -> None:
            nonlocal made
            while time.perf_counter() - began < OPEN_FOR:
                await app.runs.enqueue_many("blink", [{}] * RUNS_PER_BEAT)
                made += RUNS_PER_BEAT
                await asyncio.sleep(BEAT)

        cost = await _cost(pid, work())
        took = time.perf_counter() - began
        tasks: list[float] = await page.evaluate("window.tasks")
    return {
        "updates_per_min": made * 2 * 60 / took,
        "long_tasks_ms": sum(tasks),
        "longest_task_ms": max(tasks, default=0.0),
        "busy_cpu_percent": cost,
    }


async def _cost(pid: int, work: Any) -> float:
    """The CPU that a process took while something was done, in percent of one core."""
    began, before = time.perf_counter(), _cpu_seconds(pid)
    await work
    return 100 * (_cpu_seconds(pid) - before) / (time.perf_counter() - began)


def _cpu_seconds(pid: int) -> float:
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
