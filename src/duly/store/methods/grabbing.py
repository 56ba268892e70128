"""Runs that are born claimed: a fire beside an idle worker saves the claim, and the run starts one commit earlier."""

from __future__ import annotations

from collections.abc import Container, Sequence

from duly.core.run import Claim, Hold, NewRun
from duly.core.schedule import Definition
from duly.core.topics import takes
from duly.store.values import Grab

from .claiming import DEADLINE_GRACE_MS
from .definitions import Known


def grab_runs(now: int, runs: Sequence[NewRun], grab: Grab, governed: Container[str]) -> list[NewRun]:
    """Put new runs into the hands of a live session, as if it had claimed them the moment they were there.

    Not those of governed queues: only a claim asks whether there is room in them.
    """
    grabbed: list[NewRun] = []
    for run in runs:
        if len(grabbed) >= grab.places:
            break
        if run.hold == Hold.NONE and run.queue not in governed and takes(grab.jobs, run.job):
            run.claimed_by, run.attempt, run.fence, run.started_at = grab.session, 1, 1, now
            if run.timeout_ms is not None:
                run.deadline_at = now + run.timeout_ms + DEADLINE_GRACE_MS
            grabbed.append(run)
    return grabbed


def born_claimed(run: NewRun, known: Known) -> Claim:
    """The claim of a run that was born in a session's hands."""
    assert run.schedule_id is not None
    assert run.revision is not None
    definition = known[run.schedule_id, run.revision]
    assert isinstance(definition, Definition)
    return Claim(
        id=run.id,
        job=run.job,
        kind=run.kind,
        queue=run.queue,
        attempt=run.attempt,
        max_attempts=run.max_attempts,
        fence=run.fence,
        payload=definition.payload,
        schedule_id=run.schedule_id,
        revision=run.revision,
        window_at=run.window_at,
        due_at=run.due_at,
        fired_at=run.fired_at,
        lane=run.lane,
        timeout_ms=run.timeout_ms,
        tenant=run.tenant,
        definition=definition,
    )
