"""Jobs that carry their recurrence: a report every hour, a heartbeat every twenty seconds, a backup that catches up.

Run it with ``python examples/recurring_jobs.py``, in as many terminals as you like. What is declared here is stored at
start and updated when it changes; a job that is no longer declared is paused, never deleted.
"""

from datetime import timedelta

import duly
from duly import CatchUp, RunContext

jobs = duly.Jobs()
reported: list[str] = []


@jobs.cron("0 * * * *", timezone="UTC", name="report-hourly")
async def report_hourly(run: RunContext) -> str:
    reported.append(f"{run.scheduled_at:%H:%M}")
    return reported[-1]


@jobs.cron("*/20 * * * * *", timezone="UTC", name="heartbeat", catch_up="skip")  # six fields: seconds come first
async def heartbeat() -> None: ...


# Weekday mornings in Chicago. After a downtime every missed one of a week is made up for, oldest first, one at a time.
@jobs.cron(
    "30 8 * * 1-5",
    timezone="America/Chicago",
    name="backup",
    catch_up=CatchUp("all", max_lateness=timedelta(days=7)),
    overlap="queue",
)
def backup(run: RunContext) -> str:  # a plain function runs in a thread
    return f"copied for {run.scheduled_at:%d %B}"


app = duly.Duly("sqlite:///duly.db")
app.include(jobs)

if __name__ == "__main__":
    app.run()
