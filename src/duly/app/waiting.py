"""What a run waits for, in words: what whoever looks at one that does not start would ask next."""

from __future__ import annotations

from duly.core.queue import QueueState
from duly.core.run import Hold, Run, RunStatus

from .duly import Duly
from .watching import live_instances

TOPIC, ANY_TOPIC = "topic:", "topic:*"


async def waits_for(app: Duly, run: Run) -> str | None:
    """None where it does not wait, or could start in this moment."""
    if run.status is not RunStatus.PENDING:
        return None
    if run.hold == Hold.LANE:
        return f"the runs of its {'singleton key' if run.schedule_id is None else 'schedule'} before it"
    if run.due_at is not None and run.due_at.timestamp() * 1000 > app.clock.now():
        return f"its {'next attempt' if run.attempt else 'time'}, {run.due_at:%Y-%m-%d %H:%M:%S} UTC"
    return await _worker(app, run.job) or await _queue(app, run.queue)


async def _worker(app: Duly, job: str) -> str | None:
    workers = [instance for instance in await live_instances(app) if "worker" in instance.roles]
    if not workers:
        return "a worker: none is alive"
    if any(job in worker.jobs or (job.startswith(TOPIC) and ANY_TOPIC in worker.jobs) for worker in workers):
        return None
    return f"a worker that knows job {job!r}: none that is alive does"


async def _queue(app: Duly, name: str) -> str | None:
    queue = await app.queues.get(name)
    state, most = queue.state, queue.max_running
    if state.paused:
        who = f"{state.paused_by} paused" if state.paused_by else "is paused"
        return f"its queue {name!r}, which {who}" + (f": {state.pause_reason}" if state.pause_reason else "")
    if most is not None and queue.running >= most:
        return f"its queue {name!r}, in which no more than {most} may run at once"
    if _spent(state, app.clock.now()):
        return f"its queue {name!r}, in which no more than {queue.rate} may start in {queue.per:g} s"
    return None


def _spent(state: QueueState, now: int) -> bool:
    """Whether as many have started in the present window of its rate as may."""
    if state.rate is None or state.per_ms is None or state.window_at is None:
        return False
    return state.used >= state.rate and now < state.window_at + state.per_ms
