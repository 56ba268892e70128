"""Keeps a database as the duly that runs this makes it: ``PYTHONPATH=src python tests/store/upgrades/keep.py FOLDER``.

Run it on the last commit before a migration, and keep what it writes: ``<schema>.sql``. It uses only what every version
has, and nothing of the tests, so that it runs on all of them.
"""

import asyncio
import sqlite3
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from duly import Cron, Duly, Every, Fatal, Once


async def fill(url: str) -> None:
    app = Duly(url)

    @app.job("work")
    async def work(**_: object) -> dict[str, str]:
        return {"done": "yes"}

    @app.job("bad")
    async def bad() -> None:
        raise Fatal("no luck")

    workflows = hasattr(app, "workflow")
    if workflows:

        @app.workflow("order", version="1")
        async def order(ctx: Any, input: Any = None) -> str:
            await ctx.step("first", lambda: "kept")
            await ctx.wait_for_signal("go")
            return "gone"

    async with app:
        await app.schedules.create(
            "nightly", Cron("0 2 * * *", "America/New_York"), job="work", payload={"n": 1}, catch_up="latest"
        )
        await app.schedules.create("hourly", Every("1h"), job="work", payload={"text": "é"}, tags=["a", "b"])
        await app.schedules.create("later", Once(datetime(2027, 1, 1, tzinfo=UTC)), job="work")
        await app.schedules.create("paused", Every("5m"), job="work")
        await app.schedules.pause("paused", reason="not now")
        await app.schedules.update("hourly", payload={"text": "è"})
        ran = await app.schedules.trigger("hourly")
        failed = await app.enqueue("bad")
        for run in (ran, failed):
            await app.runs.wait(run.id, timeout=30)
        if workflows:
            flow = await app.workflows.start("order", {"n": 7})
            await app.workflows.signal(flow.id, "early", "kept")
            while not any(s.name == "go" for s in await app.workflows.steps(flow.id)):  # noqa: ASYNC110 - no other way
                await asyncio.sleep(0.05)
        await app.enqueue("elsewhere", {"n": 2})


def keep(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "duly.db"
        asyncio.run(fill(f"sqlite:////{str(path).lstrip('/')}"))
        connection = sqlite3.connect(path)
        (schema,) = connection.execute("SELECT schema FROM duly_meta").fetchone()
        connection.execute("DELETE FROM duly_instances")  # who ran here, and where, is nobody's business
        (folder / f"{schema:04}.sql").write_text("\n".join(connection.iterdump()) + "\n")
        sys.stdout.write(f"{schema:04}.sql\n")


if __name__ == "__main__":
    keep(Path(sys.argv[1]))
