"""Two workflows on a cadence: a report every night at two in São Paulo, and stock that is fetched every five minutes.

Run it with ``python examples/scheduled_workflows.py``, as often as you like: each window starts one run.
"""

import duly
from duly import Retry, WorkflowContext

jobs = duly.Jobs()
sent: list[str] = []


async def gather(day: str) -> list[int]:
    return [1, 2, 3]


async def mail(rows: list[int]) -> str:
    sent.append(f"{len(rows)} rows")
    return sent[-1]


async def unmail(output: str) -> None:
    sent.remove(output)


@jobs.workflow("daily-report", version="1", cron="0 2 * * *", timezone="America/Sao_Paulo")
async def daily_report(ctx: WorkflowContext) -> dict[str, str]:
    rows = await ctx.step("gather", gather, ctx.now().date().isoformat())
    said = await ctx.step("mail", mail, rows, retry=Retry(max_attempts=3), compensate=unmail)
    return {"mailed": said}


async def fetch_stock() -> dict[str, int]:
    return {"apples": 3}


@jobs.workflow("sync-inventory", version="1", every="5m")
async def sync_inventory(ctx: WorkflowContext) -> int:
    return len(await ctx.step("fetch", fetch_stock))


app = duly.Duly("sqlite:///duly.db")
app.include(jobs)

if __name__ == "__main__":
    app.run()
