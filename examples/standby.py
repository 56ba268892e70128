"""Two schedulers, one of which fires: the other stands by and takes over when the first is gone.

Start ``python examples/standby.py`` in two terminals, kill the one that says it leads, and watch the other. Firing
needs no leader for its safety (leave ``election`` out, and both fire, each window once); some teams want one to look
at. With ``election="redis"`` and ``election_url`` a key in Redis decides instead of the database.
"""

import logging
from typing import Any

import duly
from duly import Retry, Settings

jobs = duly.Jobs()


@jobs.cron(
    "0 2 * * *",
    timezone="America/New_York",
    name="nightly-report",
    overlap="skip",
    catch_up="latest",
    retry=Retry(max_attempts=4),
    timeout=3600,
)
async def nightly_report(run: duly.RunContext) -> str:
    return f"the night of {run.scheduled_at:%d %B}"


@jobs.every("1s", name="health-check", overlap="cancel_previous")
async def health_check() -> None: ...


def make_app(url: str = "sqlite:///duly.db", **options: Any) -> duly.Duly:
    app = duly.Duly(url, **{"settings": Settings(election="database"), **options})
    app.include(jobs)
    return app


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")  # gain and loss of the lead are logged
    make_app().run()
