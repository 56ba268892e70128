"""One stint at a run: bring the body back to where it was, go on until it waits for something far away, or ends.

The body is pure, so it runs ahead of the record: one record carries the end of a step and what the body then asked
for, and only after it the next functions are called. A crash before the record costs the steps that were being done,
never one that was recorded.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from duly.core.errors import LeaseLost, StepFailed, ValidationFailed
from duly.core.ids import child_run_id
from duly.core.run import Cancelled, Continued, Failed, Outcome, Reason, Suspended
from duly.core.steps import START, Journal, Message, Recorded, Step, StepKind, StepStatus, handler_name
from duly.engine.context import RunContext
from duly.engine.outcomes import Snooze, failure_of, outcome_of
from duly.store.journal import Child, Record

from .body import GIVEN_UP, TIMED_OUT, Ask, Body
from .children import is_queued, new_children, nobody_knows, unknown_child
from .context import ContinueAsNew, Hooks, WorkflowContext
from .definition import Workflow
from .doing import ChildWork, Hands, StepWork
from .transacting import Both, transact
from .world import World, log

_DELIVERED = (StepKind.SIGNAL, StepKind.EVENT)
_ADDRESSED = (StepKind.CHILD, StepKind.TASK)
_TIMED = (StepKind.SIGNAL, StepKind.EVENT, StepKind.TASK)
_PATIENT = (StepKind.SIGNAL, StepKind.EVENT, StepKind.SLEEP)


class Stint:
    """The work of one claim on one run of a workflow."""

    def __init__(self, workflow: Workflow, run: RunContext, world: World) -> None:
        self._workflow = workflow
        self._run = run
        self._world = world
        self._base: tuple[int, float] = (world.clock.now(), world.clock.steady())
        self._messages: list[Message] = []
        self._seen = 0
        self._taken: list[int] = []
        self._begun: dict[asyncio.Task[Step], int] = {}
        self._children: list[Child] = []
        self._secret = ""
        self._kept: tuple[Body, Journal] | None = None
        self._is_undoing = False
        self._warned = False
        self._hands = Hands(
            run.id, world.registry, world.clock, self.now, world.result_limit, self._transact, self._recall
        )

    @property
    def _session(self) -> int:
        return self._world.session(self._run)

    def now(self) -> int:
        """The store's time, as far as it is known here."""
        at, steady = self._base
        return at + round((self._world.clock.steady() - steady) * 1000)

    async def run(self) -> Outcome | Any:
        """Go on as far as it goes; the answer is the body's own, or an outcome."""
        journal = Journal(now=self.now())
        if self._run.fence > 1:
            journal = await self._world.read_journal(self._run.id)
            self._hear(journal)
        self._secret = await self._world.secret()
        return await self._until_it_waits(self._revive(journal), journal)

    async def resume(self, run: RunContext) -> Outcome | Any:
        """Go on with a body that has stayed in memory since it was suspended, under a new claim."""
        self._run = run
        assert self._kept is not None
        recorded = await self._put(self._record_of())
        return await self._until_it_waits(*self._kept) if not recorded.cancelled else Cancelled()

    async def _until_it_waits(self, body: Body, journal: Journal) -> Outcome | Any:
        try:
            outcome = await self._go_on(body, journal)
        finally:
            for task in self._begun:
                task.cancel()
        if isinstance(outcome, Suspended) and not self._is_undoing:
            self._kept = (body, journal)
            self._world.residents.keep(self._run.id, self._run.fence, self)
        return outcome

    def _revive(self, journal: Journal) -> Body:
        start = next((step for step in journal.steps if step.position == START), None)
        began = self.now() if start is None else start.asked_at
        body = Body(self._run.id, journal.steps, began, self._world.limits)
        if start is None:
            body.news.marks |= self._workflow.marks
            body.news.steps[START] = Step(
                position=START,
                kind=StepKind.START,
                name=self._workflow.version,
                status=StepStatus.DONE,
                asked_at=body.now,
                done_at=body.now,
            )
        hooks = Hooks(self._secret, self._world.hook_url)
        context = WorkflowContext(body, self._run, self._workflow.version, self.now, hooks)
        given = (context, self._workflow.read_input(self._run.payload)) if self._workflow.takes_input else (context,)
        outside(lambda: body.start(self._workflow.function(*given)))
        return body

    async def _go_on(self, body: Body, journal: Journal) -> Outcome | Any:
        while True:
            if body.broken is None and not self._is_to_stop():
                self._feed_what_has_come(body)
            if body.broken is not None:
                return self._failed(body.broken)
            assert body.task is not None
            if self._is_over(body):
                return await self._give_up(body)
            if (ask := await unknown_child(body, self._world)) is not None:
                self._feed(body, self._ended(ask.step, StepStatus.FAILED, error=nobody_knows(ask.work, self._world)))
                continue
            if not await self._record(body):
                return Cancelled()
            if self._is_to_stop():
                return await self._stop(body, journal)
            if body.task.done():
                return await self._end(body, journal, body.task)
            self._begin(body)
            if self._begun:
                await self._wait_for_one(body)
                continue
            wake_at = min((at for at in self._dues(body) if at is not None), default=None)
            if wake_at is not None and wake_at <= self.now():
                continue
            if not body.waiting:
                return Failed("the body waits for nothing that duly knows of; await ctx.step, ctx.sleep, …", fatal=True)
            if not self._can_be_delivered(body):
                return Suspended(wake_at, self._seen)

    # What ends it from outside: a cancel, or its own time.

    def _is_to_stop(self) -> bool:
        return any(message.kind is StepKind.CANCEL for message in self._messages)

    async def _stop(self, body: Body, journal: Journal) -> Outcome:
        """Undo what was done, and end as cancelled. The message stays: another worker goes on from where this was."""
        await self._cancel_children(body)
        undone = await self._undo_all(body, journal)
        if isinstance(undone, Suspended):
            return undone
        await self._world.cancel(self._run.id)  # also what is below and nobody waits for
        return Cancelled(Reason.CANCEL_REQUESTED, undone)

    def _is_over(self, body: Body) -> bool:
        over = self._over_at(body)
        return over is not None and over <= self.now() and body.task is not None and not body.task.done()

    def _over_at(self, body: Body) -> int | None:
        timeout = self._workflow.timeout_ms
        return None if timeout is None else body.began + timeout

    async def _give_up(self, body: Body) -> Outcome:
        """Its time is over: it ends, and with it all below."""
        await self._world.cancel(self._run.id)
        limit = (self._workflow.timeout_ms or 0) / 1000
        return Cancelled(Reason.EXECUTION_TIMEOUT, f"the workflow took longer than its timeout of {limit:g} s")

    async def _cancel_children(self, body: Body) -> None:
        for ask in body.waiting.values():
            if isinstance(ask.work, ChildWork):
                await self._world.cancel(ask.work.id)

    def _dues(self, body: Body) -> list[int | None]:
        doing = set(self._begun.values())
        return [self._over_at(body), *(a.step.due_at for p, a in body.waiting.items() if p not in doing)]

    # What has come: messages, and instants.

    def _hear(self, recorded: Recorded) -> None:
        self._base = (recorded.now, self._world.clock.steady())
        known = {message.n for message in self._messages}
        self._messages += [message for message in recorded.messages if message.n not in known]
        self._seen = max([self._seen, *(message.n for message in recorded.messages)])

    def _feed_what_has_come(self, body: Body) -> None:
        """Feed the body, one after another, what it waits for and what is there. It may ask for more meanwhile."""
        while body.broken is None and body.task is not None and not body.task.done():
            end = self._next_end(body)
            if end is None:
                return
            self._feed(body, end)

    def _feed(self, body: Body, end: Step) -> None:
        end.seq = body.seq
        body.news.steps[end.position] = end
        outside(lambda: body.feed(end))

    def _next_end(self, body: Body) -> Step | None:
        for _, ask in sorted(body.waiting.items()):
            if ask.step.status is not StepStatus.ASKED:
                return replace(ask.step)  # recorded in a transaction of its own, and not given to the body yet
            if ask.future.cancelled() and ask.step.kind in _PATIENT:
                return self._ended(ask.step, StepStatus.FAILED, error=GIVEN_UP)  # what comes is for the next wait
            message = self._message_for(ask)
            if message is not None:
                self._messages.remove(message)
                self._taken.append(message.n)
                status = StepStatus.DONE if message.error is None else StepStatus.FAILED
                return self._ended(ask.step, status, message.body, message.error)
            due = ask.step.due_at is not None and ask.step.due_at <= self.now()
            if due and ask.step.kind is StepKind.SLEEP:
                return self._ended(ask.step, StepStatus.DONE)
            if due and ask.step.kind in _TIMED:
                return self._ended(ask.step, StepStatus.FAILED, error=TIMED_OUT)
        return None

    def _message_for(self, ask: Ask) -> Message | None:
        kind, name = ask.step.kind, ask.step.name
        if kind in _ADDRESSED or (kind is StepKind.STEP and is_queued(ask)):
            kind, name = StepKind.TASK if kind is StepKind.TASK else StepKind.CHILD, str(ask.step.position)
        elif kind not in _DELIVERED:
            return None
        return next((m for m in self._messages if m.kind is kind and m.name == name), None)

    def _can_be_delivered(self, body: Body) -> bool:
        return any(self._message_for(ask) is not None for ask in body.waiting.values())

    def _ended(self, step: Step, status: StepStatus, result: str | None = None, error: str | None = None) -> Step:
        return replace(step, status=status, result=result, error=error, done_at=self.now())

    # What is to be done: functions to call, children to start.

    def _begin(self, body: Body) -> None:
        """Start the work of what was asked for and is recorded, unless it waits for its next try."""
        doing = set(self._begun.values())
        for position, ask in sorted(body.waiting.items()):
            waits = ask.step.due_at is not None and ask.step.due_at > self.now() and ask.step.kind is StepKind.STEP
            if position in doing or waits or not isinstance(ask.work, StepWork) or is_queued(ask):
                continue
            if ask.step.kind is StepKind.TASK and ask.step.attempt:
                continue  # it was handed out; its end comes as a message
            task = asyncio.get_running_loop().create_task(self._hands.do(ask.step, ask.work))
            self._begun[task] = position

    def _transact(self, both: Both) -> Step:
        return transact(self._world, self._record_of, both)

    async def _recall(self, step: Step) -> Step:
        """What is recorded of a step. Its record is written again first: that waits for a commit still under way."""
        await self._put(self._record_of(step))
        journal = await self._world.read_journal(self._run.id)
        return next((known for known in journal.steps if known.position == step.position), step)

    def _record_of(self, *steps: Step) -> Record:
        run = self._run
        return Record(run_id=run.id, fence=run.fence, session=self._session, steps=steps, seen=self._seen)

    async def _wait_for_one(self, body: Body) -> None:
        """Wait until something that is being done has ended, or until an instant has come that the body waits for."""
        dues = [at for at in self._dues(body) if at is not None]
        patience = max(0.0, (min(dues) - self.now()) / 1000) if dues else None
        changed = asyncio.Event()
        tasks = list(self._begun)
        for task in tasks:
            task.add_done_callback(lambda _: changed.set())
        if patience is None:
            await changed.wait()
        else:
            await self._world.clock.wait(changed, patience)
        for task in [task for task in tasks if task.done()]:
            position = self._begun.pop(task)
            self._take_end(body, position, task.result())

    def _take_end(self, body: Body, position: int, end: Step) -> None:
        ask = body.waiting.get(position)
        if ask is None or body.broken is not None or body.task is None or body.task.done():
            return
        if ask.step.kind is StepKind.TASK:
            if end.status is StepStatus.DONE:  # handed out: the row stays open until somebody completes it
                ask.step = replace(ask.step, attempt=1)
                body.news.steps[position] = ask.step
                return
            self._feed(body, end)
        elif end.status is StepStatus.ASKED:
            ask.step = end
            body.news.steps[position] = end
        else:
            self._feed(body, end)

    # The record.

    async def _record(self, body: Body) -> bool:
        """Write what is new; False if a cancel was asked for."""
        self._children += new_children(body, self._run, self._world)
        news = body.news
        for id in news.cancels:  # before it is recorded why: a crash in between does it again
            await self._world.cancel(id)
        first = START in news.steps
        if not (news.steps or news.published or news.marks or self._taken or self._children):
            return True
        record = Record(
            run_id=self._run.id,
            fence=self._run.fence,
            session=self._session,
            steps=list(news.steps.values()),
            seen=self._seen,
            taken=self._taken,
            published=news.published,
            children=self._children,
            marks=news.marks,
            job=self._workflow.handler if first else None,
            progress=self._run.attempt > 1 and any(step.seq is not None for step in news.steps.values()),
        )
        body.news = type(news)()
        self._taken, self._children = [], []
        self._warn_of_length(body)
        return not (await self._put(record)).cancelled

    async def _put(self, record: Record) -> Recorded:
        recorded = await self._world.record(record)
        if recorded is None:
            raise LeaseLost(f"run {self._run.id} belongs to a newer attempt", run_id=self._run.id)
        self._hear(recorded)
        return recorded

    def _warn_of_length(self, body: Body) -> None:
        warning = None if self._warned else self._world.limits.warning(body.next_position - 1, body.bytes)
        if warning is not None:
            self._warned = True
            log.warning("run %s of workflow %s is long: %s", self._run.id, self._workflow.name, warning)

    # The end.

    async def _end(self, body: Body, journal: Journal, task: asyncio.Task[Any]) -> Outcome | Any:
        error: BaseException | None
        if task.cancelled():
            error = StepFailed(self._workflow.name, "the body cancelled itself")
        else:
            error = task.exception()
        if isinstance(error, ContinueAsNew):
            return self._continue(body, error.input)
        if error is None and isinstance(task.result(), Snooze):
            error = ValidationFailed("the body answered Snooze, which is for jobs; wait with ctx.sleep")
        if error is not None:
            self._hands.explain(error)
            return await self._undo(body, journal, self._failed(error))
        outcome = outcome_of(task.result(), self._world.result_limit)
        return await self._undo(body, journal, outcome) if isinstance(outcome, Failed) else task.result()

    def _failed(self, error: BaseException) -> Failed:
        return replace(failure_of(error, self._world.registry.around.redact), fatal=True)

    async def _undo(self, body: Body, journal: Journal, failed: Failed) -> Outcome:
        """Undo what was done; the first error stays the run's own."""
        undone = await self._undo_all(body, journal)
        if isinstance(undone, Suspended):
            return undone
        return replace(failed, error=f"{failed.error} ({undone})") if undone else failed

    async def _undo_all(self, body: Body, journal: Journal) -> str | Suspended | None:
        """Undo what was done, the newest first, each once for good; the answer says what could not be undone."""
        self._is_undoing = True
        recorded = {step.position: step for step in journal.steps if step.kind is StepKind.UNDO}
        failed: list[str] = []
        for place, done in enumerate(reversed(body.done), 1):
            row = recorded.get(-place) or Step(
                position=-place, kind=StepKind.UNDO, name=f"compensate:{done.step.name}", asked_at=self.now()
            )
            while row.status is StepStatus.ASKED:
                if row.due_at is not None and row.due_at > self.now():
                    return Suspended(row.due_at, self._seen)
                row = await self._hands.undo(done, row)
                body.news.steps[row.position] = row
                await self._record(body)
            if row.status is StepStatus.FAILED:
                failed.append(f"{row.name}: {row.error}")
        return f"not undone: {'; '.join(failed)}" if failed else None

    def _continue(self, body: Body, input: Any) -> Outcome:
        id = child_run_id(self._run.id, body.next_position, body.now)
        return Continued(id, handler_name(self._workflow.name), body.written(input, "the input of the new run"))


def outside(call: Callable[[], None]) -> None:
    """Run a body although a task of the worker's loop is running."""
    task = asyncio.current_task()
    loop = asyncio.get_running_loop()
    if task is not None:
        asyncio.tasks._leave_task(loop, task)
    try:
        call()
    finally:
        if task is not None:
            asyncio.tasks._enter_task(loop, task)
