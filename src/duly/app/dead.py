"""Attempts and dead letters: the part of ``app.runs`` for what went wrong."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

from duly.config import Settings
from duly.core.dead import AttemptRecord, DeadGroup
from duly.core.errors import Conflict, NotDead, RunActive
from duly.core.ids import is_id
from duly.core.rules.overlap import MOST_REDRIVEN
from duly.core.run import Run, RunStatus
from duly.engine.registry import Registry
from duly.store.dead import DeadFilter, DeadRef, Done, Handled, Redrive
from duly.store.sql import SqlStore
from duly.store.values import Page

from .checking import (
    check_id,
    check_limit,
    check_list,
    check_number,
    check_position,
    check_text,
    check_truth,
    check_words,
    not_found,
)
from .filtering import check_filters
from .payload import encode_payload
from .words import UNSET, DeadFilters

BATCH = 200
"""Dead letters per transaction: small enough that a fire never waits long for one."""

MOST_IDS = 1000
_REFUSED = (Done.NO_PAYLOAD, Done.LANE_FULL)
Work = Callable[[Sequence[DeadRef]], Awaitable[list[Handled]]]


@dataclass(frozen=True, slots=True)
class HandledMany:
    """What became of many dead letters: how many were done, which (of the first thousand) were not, and why.

    ``more`` says that a bound was reached before the end of the list.
    """

    count: int
    refused: tuple[Handled, ...] = ()
    more: bool = False


class DeadLetters(ABC):
    """Look into runs that failed for good, let them go again, or lay them to rest."""

    _store: SqlStore
    _settings: Settings
    _registry: Registry
    _on_runs: Callable[[], None]

    @property
    @abstractmethod
    def _hides_stacks(self) -> bool:
        """Whether the stacks of errors are not for the caller."""

    @abstractmethod
    async def _resolve(self, ref: str) -> str | None:
        """The id of the run that is meant, or None."""

    async def attempts(self, ref: str) -> list[AttemptRecord]:
        """The attempts at a run in their order, with their errors; of snoozed ones, the newest 20."""
        run_id = await self._resolve(ref)
        kept = [] if run_id is None else await self._store.read_attempts(run_id)
        if self._hides_stacks:
            kept = [one if one.error is None else replace(one, error=replace(one.error, stack=None)) for one in kept]
        if not kept and (run_id is None or await self._store.get_run(run_id) is None):
            raise not_found("run", ref)
        return kept

    async def dead(self, *, limit: int = 50, cursor: str | None = None, **filters: Unpack[DeadFilters]) -> Page[Run]:
        """One page of the dead letters, newest first, without payloads."""
        where = await self._where("dead", filters)
        if where is None:
            return Page([])
        return await self._store.list_dead(where, limit=check_limit(limit), after=check_position(cursor))

    async def dead_groups(self, *, limit: int = 50, **filters: Unpack[DeadFilters]) -> list[DeadGroup]:
        """How many dead letters there are of each job and error, the largest group first."""
        where = await self._where("dead_groups", filters)
        return [] if where is None else await self._store.group_dead(where, limit=check_limit(limit))

    async def redrive(self, ref: str, payload: Any = UNSET, *, force: bool = False, by: str | None = None) -> Run:
        """Let a dead run go again with a fresh budget, and answer the run that goes.

        It is the same run, with its id. With a payload it is a new one (``redrive_of`` names the first), and the dead
        one stays as it is, acknowledged. Where runs of its schedule must not overlap it waits for its turn, unless
        ``force`` is set. Asked for again, it answers the run that goes already.
        """
        run_id = await self._resolve(ref)
        run = None if run_id is None else await self._store.get_run(run_id)
        if run is None:
            raise not_found("run", ref)
        text = None if payload is UNSET else self._check_payload(run, payload)
        request = Redrive(
            dead=DeadRef(run.id, run.fence if run.status is RunStatus.FAILED else None),
            payload=text,
            force=check_truth(force, "force"),
            by=check_text(by, "by", 100),
        )
        (answer,) = await self._store.redrive([request])
        _check_handled(run, answer)
        self._on_runs()
        goes = await self._store.get_run(answer.goes_as or run.id) or run
        other = (goes.id == run.id) != (text is None) or text not in (None, goes.payload_json)
        if answer.outcome is Done.REPEATED and other:
            raise NotDead(
                f"run {run.id} was redriven already, as {goes.id}; that one can be redriven when it has died",
                run_id=goes.id,
            )
        return goes

    async def redrive_many(
        self,
        *,
        ids: Sequence[str] | None = None,
        force: bool = False,
        by: str | None = None,
        most: int | None = None,
        **filters: Unpack[DeadFilters],
    ) -> HandledMany:
        """Let dead runs go again, oldest first, in small transactions: those of ``ids``, or all that fit the filters.

        Only runs that are dead now: one that dies again meanwhile is left. ``most`` bounds how many go.
        """
        by, force = check_text(by, "by", 100), check_truth(force, "force")

        async def work(dead: Sequence[DeadRef]) -> list[Handled]:
            answers = await self._store.redrive([Redrive(dead=ref, force=force, by=by) for ref in dead])
            self._on_runs()
            return answers

        return await self._work_off("redrive_many", ids, most, filters, work)

    async def acknowledge(self, ref: str) -> Run:
        """Take a run out of the dead letters; it stays as it is, and can still be redriven by its id."""
        run_id = await self._resolve(ref)
        run = None if run_id is None else await self._store.get_run(run_id)
        if run is None:
            raise not_found("run", ref)
        (answer,) = await self._store.acknowledge([DeadRef(run.id)])
        _check_handled(run, answer)
        return await self._store.get_run(run.id) or run

    async def acknowledge_many(
        self, *, ids: Sequence[str] | None = None, most: int | None = None, **filters: Unpack[DeadFilters]
    ) -> HandledMany:
        """Take runs out of the dead letters: those of ``ids``, or all that fit the filters."""
        return await self._work_off("acknowledge_many", ids, most, filters, self._store.acknowledge)

    async def _work_off(
        self, call: str, ids: Sequence[str] | None, most: int | None, filters: DeadFilters, work: Work
    ) -> HandledMany:
        if most is not None:
            check_number(most, "most", 1, 2**31 - 1)
        if ids is not None:
            return await self._work_off_ids(ids, work)
        where = await self._where(call, filters)
        if where is None:
            return HandledMany(0)
        died_by = await self._store.now()
        done = 0
        refused: list[Handled] = []
        after: str | None = None
        while most is None or done < most:
            limit = BATCH if most is None else min(BATCH, most - done)
            found = await self._store.find_dead(where, died_by=died_by, limit=limit, after=after)
            if not found:
                return HandledMany(done, tuple(refused))
            answers = await work(found)
            after = found[-1].run_id
            done += sum(answer.outcome is Done.DONE for answer in answers)
            refused += [answer for answer in answers if answer.outcome in _REFUSED][: MOST_IDS - len(refused)]
        more = await self._store.find_dead(where, died_by=died_by, limit=1, after=after)
        return HandledMany(done, tuple(refused), more=bool(more))

    async def _work_off_ids(self, ids: Sequence[str], work: Work) -> HandledMany:
        ids = check_list("ids", ids, "ids")
        check_number(len(ids), "ids", 0, MOST_IDS)
        refs = [DeadRef(check_id(id, f"ids.{place}")) for place, id in enumerate(ids)]
        answers: list[Handled] = []
        for start in range(0, len(refs), BATCH):
            answers += await work(refs[start : start + BATCH])
        done = [answer for answer in answers if answer.outcome in (Done.DONE, Done.REPEATED)]
        return HandledMany(len(done), tuple(answer for answer in answers if answer not in done))

    async def _where(self, call: str, filters: DeadFilters) -> DeadFilter | None:
        """The filter, or None if it names a schedule that is not there."""
        check_words(call, filters, DeadFilters.__optional_keys__)
        check_filters(**filters)
        given: dict[str, Any] = {name: value for name, value in filters.items() if name != "schedule"}
        schedule = filters.get("schedule")
        if schedule is not None and not is_id(schedule):
            found = await self._store.get_schedule(schedule)
            if found is None:
                return None
            schedule = found.id
        return DeadFilter(schedule_id=schedule, **given)

    def _check_payload(self, run: Run, payload: Any) -> str:
        text = encode_payload(payload, self._settings.payload_limit)
        handler = self._registry.get(run.job)
        if handler is not None:
            handler.arguments.check(text)
        return text


def _check_handled(run: Run, answer: Handled) -> None:
    match answer.outcome:
        case Done.DONE | Done.REPEATED:
            return
        case Done.NO_PAYLOAD:
            raise Conflict(
                f"run {run.id} has lost its payload with its schedule, which was purged; redrive it with a payload",
                run_id=run.id,
            )
        case Done.LANE_FULL:
            raise RunActive(
                f"run {run.id} would wait behind {MOST_REDRIVEN} open runs of its schedule;"
                " redrive it later, or with force",
                run_id=run.id,
            )
        case Done.NOT_FOUND:
            raise not_found("run", run.id)
        case Done.NOT_DEAD:
            raise NotDead(
                f"run {run.id} is {run.status.value}; only a run that failed for good is a dead letter", run_id=run.id
            )
