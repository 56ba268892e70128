"""Dead letters in the model: loops over dictionaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from duly.core.dead import AttemptRecord, DeadGroup, OnDead, on_dead_payload
from duly.core.failure import AttemptError, message_of
from duly.core.ids import on_dead_run_id, redrive_run_id
from duly.core.instants import to_datetime
from duly.core.lane import Singleton
from duly.core.policy import Overlap
from duly.core.rules.overlap import admit_redriven
from duly.core.run import Claim, Failed, NewRun, OpenRun, Reason, Run, RunKind
from duly.core.schedule import Cursor, Definition
from duly.core.steps import WORKFLOW
from duly.runtime.clock import Clock
from duly.store.dead import DeadFilter, DeadRef, Done, Handled, Redrive
from duly.store.values import Instance, Page
from tests.differential.lanes import LaneRow
from tests.differential.positions import page_of_runs


@dataclass(slots=True, kw_only=True)
class RedriveRow:
    run_id: str
    fence: int
    redriven_at: int
    redriven_by: str | None
    made_run: str | None


class DeadModel:
    """The part of the model that holds what failed for good."""

    _clock: Clock
    runs: dict[str, Any]
    history: dict[str, Any]
    attempts: dict[tuple[str, int], Any]
    revisions: dict[tuple[str, int], Any]
    cursors: dict[str, Cursor]
    instances: dict[int, Instance]
    redrives: dict[tuple[str, int], RedriveRow]
    owners: dict[str, str]
    dead_handlers: dict[str, OnDead]
    lanes: dict[str, LaneRow]
    children: dict[str, tuple[str, int]]

    def _enter(self, id: str, singleton: Singleton | None) -> tuple[int, int]:
        raise NotImplementedError

    def _run(self, id: str) -> Run:
        raise NotImplementedError

    def _known_instance(self, session: int | None) -> Instance | None:
        raise NotImplementedError

    def _forget_failure(self, row: Any) -> None:
        raise NotImplementedError

    def _failed_children(self, id: str) -> list[tuple[int, str]]:
        raise NotImplementedError

    def _reopen(self, id: str, position: int) -> None:
        raise NotImplementedError

    def _tell_parents(self, ids: Sequence[str]) -> int:
        raise NotImplementedError

    def _inherit_marks(self, run_id: str, other: str) -> None:
        raise NotImplementedError

    def _insert(self, run: NewRun) -> bool:
        raise NotImplementedError

    def _open_runs(self, schedule_id: str) -> list[OpenRun]:
        raise NotImplementedError

    def _sees_run(self, id: str) -> bool:
        raise NotImplementedError

    async def read_attempts(self, run_id: str) -> list[AttemptRecord]:
        if not self._sees_run(run_id):
            return []
        rows = {
            a.fence: (a.attempt, a.outcome, a.error, a.started_at, a.ended_at, a.session, a.snoozes)
            for a in self._of(run_id)
        }
        run, ended = self.runs.get(run_id), self.history.get(run_id)
        if run is not None and run.claimed_by is not None:
            rows[run.fence] = (run.attempt, "running", None, run.started_at, None, run.claimed_by, None)
        if ended is None or ended.session is None or ended.fence in rows:
            pass
        elif ended.status in ("completed", "cancelled"):
            at = ended.finished_at
            rows[ended.fence] = (ended.attempt, ended.status, None, ended.started_at, at, ended.session, None)
        return [
            AttemptRecord(
                attempt_number=attempt,
                outcome=outcome,
                error_message=error,
                started_at=to_datetime(started_at),
                ended_at=to_datetime(ended_at),
                instance=instance.name if (instance := self._known_instance(session)) is not None else None,
                error=self._error(run_id, fence),
                fence=fence,
                snoozes=snoozes,
            )
            for fence, (attempt, outcome, error, started_at, ended_at, session, snoozes) in sorted(rows.items())
        ]

    def _error(self, run_id: str, fence: int) -> AttemptError | None:
        attempt = self.attempts.get((run_id, fence))
        if attempt is None or attempt.error is None:
            return None
        return AttemptError(
            type=attempt.error_type,
            message=message_of(attempt.error, attempt.error_type),
            stack=attempt.stack,
            truncated=bool(attempt.stack_truncated),
        )

    def _of(self, run_id: str) -> list[Any]:
        return [attempt for key, attempt in self.attempts.items() if key[0] == run_id]

    async def list_dead(self, where: DeadFilter, *, limit: int, after: str | None = None) -> Page[Run]:
        dead = [replace(self._run(row.id), payload_json=None, result_json=None) for row in self._dead(where)]
        return page_of_runs(dead, limit, after)

    async def find_dead(
        self, where: DeadFilter, *, died_by: int, limit: int, after: str | None = None
    ) -> Sequence[DeadRef]:
        found = [row for row in self._dead(where) if row.finished_at <= died_by and (after is None or row.id > after)]
        return [DeadRef(row.id, row.fence) for row in found[:limit]]

    async def group_dead(self, where: DeadFilter, *, limit: int) -> list[DeadGroup]:
        groups: dict[tuple[str | None, ...], list[Any]] = {}
        for row in self._dead(where):
            type, location = self._raised(row)
            cause = (None, None, row.error[:200]) if location is None else (type, location, None)
            groups.setdefault((row.job, *cause), []).append(row)
        found = [
            DeadGroup(
                job=rows[-1].job,
                error=rows[-1].error[:200],
                error_type=type,
                error_location=location,
                count=len(rows),
                first_died_at=to_datetime(min(row.finished_at for row in rows)),
                last_died_at=to_datetime(max(row.finished_at for row in rows)),
                newest_run_id=rows[-1].id,
            )
            for (_, type, location, _), rows in groups.items()
        ]
        return sorted(found, key=lambda group: (group.count, group.newest_run_id), reverse=True)[:limit]

    def _dead(self, where: DeadFilter) -> list[Any]:
        return [
            row
            for _, row in sorted(self.history.items())
            if row.status == "failed"
            and row.acked_at is None
            and self._sees_run(row.id)
            and where.tenant in (None, row.tenant)
            and where.schedule_id in (None, row.schedule_id)
            and where.job in (None, row.job)
            and where.queue in (None, row.queue)
            and (where.error is None or where.error in row.error)
            and where.error_type in (None, self._raised(row)[0])
            and where.error_location in (None, self._raised(row)[1])
        ]

    def _raised(self, row: Any) -> tuple[str | None, str | None]:
        """What ended the run, and where in the app."""
        attempt = self.attempts.get((row.id, row.fence))
        return (None, None) if attempt is None else (attempt.error_type, attempt.error_location)

    async def acknowledge(self, dead: Sequence[DeadRef]) -> list[Handled]:
        answers: list[Handled] = []
        for ref in dead:
            row = self._meant(ref)
            if row is None:
                answers.append(self._not_dead(ref.run_id))
                continue
            answers.append(Handled(ref.run_id, Done.DONE if row.acked_at is None else Done.REPEATED))
            row.acked_at = row.acked_at or self._clock.now()
        return answers

    async def redrive(self, requests: Sequence[Redrive]) -> list[Handled]:
        before = dict(self.history)
        order = sorted(range(len(requests)), key=lambda place: _age(before.get(requests[place].dead.run_id)))
        answers = {place: self._redrive(requests[place], before) for place in order}
        revived = {
            answers[place].run_id
            for place in order
            if answers[place].outcome is Done.DONE and requests[place].payload is None
        }
        await self._reopen_children(sorted(revived))
        return [answers[place] for place in range(len(requests))]

    async def _reopen_children(self, ids: Sequence[str]) -> None:
        """Let the children go again whose failure killed these runs, and tell what has ended meanwhile."""
        workflows = [id for id in ids if self.runs[id].job.startswith(WORKFLOW)]
        found = [(id, position, child) for id in workflows for position, child in self._failed_children(id)]
        ends = {child: self.history[child].status for _, _, child in found if child in self.history}
        for id, position, _ in found:
            self._reopen(id, position)
        dead = sorted(child for child, status in ends.items() if status == "failed")
        if dead:
            await self.redrive([Redrive(dead=DeadRef(child)) for child in dead])
        below = [child for child, (parent, _) in self.children.items() if parent in workflows]
        self._tell_parents([child for child in below if child in self.history])

    def _redrive(self, request: Redrive, before: Mapping[str, Any]) -> Handled:
        ref, row = request.dead, self._meant(request.dead, before)
        past = {f: redrive for (id, f), redrive in self.redrives.items() if id == ref.run_id and self._sees_run(id)}
        if row is not None and row.fence not in past:
            return self._go_again(row, request)
        failed = before.get(ref.run_id) if self._sees_run(ref.run_id) else None
        fence = ref.fence
        if fence is None:
            fence = failed.fence if failed is not None and failed.status == "failed" else max(past, default=None)
        if fence in past:
            return Handled(ref.run_id, Done.REPEATED, past[fence].made_run or ref.run_id)
        return self._not_dead(ref.run_id)

    def _go_again(self, row: Any, request: Redrive) -> Handled:
        now, cursor = self._clock.now(), self.cursors.get(row.schedule_id)
        if request.payload is None and row.payload is None and (row.schedule_id, row.revision) not in self.revisions:
            return Handled(row.id, Done.NO_PAYLOAD)
        hold, lane, slot = 0, None, cursor.slot if cursor else 0
        if row.lane in self.lanes and not request.force:
            lane = row.lane
            hold, slot = self._enter(row.lane, None)
        elif cursor is not None:
            definition: Definition = self.revisions[row.schedule_id, cursor.revision].definition
            admission = admit_redriven(definition, self._open_runs(row.schedule_id), request.force)
            if admission.refused:
                return Handled(row.id, Done.LANE_FULL)
            hold = int(admission.hold)
            alone = definition.overlap is not Overlap.ALLOW or definition.max_concurrent is not None
            lane = row.schedule_id if alone and not request.force else None
        if hold == 0 and row.reason == Reason.LOST:
            hold = 5
        fresh = request.payload is not None
        goes_as = redrive_run_id(row.id, row.fence, row.finished_at) if fresh else row.id
        if fresh:
            row.acked_at = row.acked_at or now
        else:
            del self.history[row.id]
            self._forget_failure(row)
        self._insert(
            NewRun(
                id=goes_as,
                job=row.job,
                kind=RunKind(row.kind) if not fresh else RunKind.MANUAL if row.schedule_id else RunKind.DIRECT,
                due_at=now,
                fired_at=now if fresh else row.fired_at,
                schedule_id=row.schedule_id,
                revision=row.revision,
                window_at=row.window_at,
                tenant=row.tenant,
                queue=row.queue,
                priority=row.priority,
                slot=slot,
                hold=hold,
                lane=lane,
                max_attempts=row.max_attempts,
                timeout_ms=row.timeout_ms,
                payload=request.payload if fresh else row.payload,
                fence=0 if fresh else row.fence,
            )
        )
        if fresh:
            self._inherit_marks(goes_as, row.id)
        if fresh and row.schedule_id is None and row.id in self.owners:
            self.owners[goes_as] = self.owners[row.id]
        self.redrives[row.id, row.fence] = RedriveRow(
            run_id=row.id,
            fence=row.fence,
            redriven_at=now,
            redriven_by=request.by,
            made_run=goes_as if fresh else None,
        )
        return Handled(row.id, Done.DONE, goes_as)

    def _meant(self, ref: DeadRef, rows: Mapping[str, Any] | None = None) -> Any:
        row = (self.history if rows is None else rows).get(ref.run_id)
        if not self._sees_run(ref.run_id):
            return None
        return row if row is not None and row.status == "failed" and ref.fence in (None, row.fence) else None

    def _not_dead(self, run_id: str) -> Handled:
        there = self._sees_run(run_id)
        return Handled(run_id, Done.NOT_DEAD if there else Done.NOT_FOUND)

    async def put_on_dead(self, jobs: Sequence[str], on_dead: Sequence[OnDead]) -> None:
        for job in jobs:
            self.dead_handlers.pop(job, None)
        self.dead_handlers |= {one.job: one for one in on_dead}

    def _tell_of_death(self, claim: Claim, dead: Any, now: int, outcome: object) -> bool:
        told = self.dead_handlers.get(claim.job)
        if told is None or claim.job in {one.handler for one in self.dead_handlers.values()}:
            return False
        return self._insert(
            NewRun(
                id=on_dead_run_id(claim.id, claim.fence, now),
                job=told.handler,
                kind=RunKind.DIRECT,
                due_at=now,
                window_at=now,
                fired_at=now,
                tenant=claim.tenant,
                queue=told.queue,
                max_attempts=told.max_attempts,
                timeout_ms=told.timeout_ms,
                payload=on_dead_payload(
                    claim,
                    attempt=dead.attempt,
                    reason=dead.reason,
                    error=dead.error,
                    died_at=now,
                    report=outcome.report if isinstance(outcome, Failed) else None,
                ),
            )
        )


def _age(dead: Any) -> tuple[int, str]:
    if dead is None:
        return 0, ""
    return (dead.finished_at if dead.window_at is None else dead.window_at), dead.id
