"""``app.workflows``: start runs of workflows, send them signals, ask what they show."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from duly.config import Settings
from duly.core.errors import Conflict, NotFound, ValidationFailed, WorkflowUnknown
from duly.core.hooks import SECRET, read_hook_token
from duly.core.ids import is_id, is_name
from duly.core.marks import Marks, Value, make_marks, read_marks
from duly.core.on_event import KEPT_MS, EventHandler, Published
from duly.core.run import Run
from duly.core.schedule import DEFAULT_QUEUE, DEFAULT_TIMEOUT_MS
from duly.core.steps import History, Limits, Step, Update, handler_name, history_of_steps, parse_handler, update_name
from duly.engine.job import Job
from duly.store.publishing import NewEvent
from duly.store.sql import SqlStore
from duly.store.values import NewRequest
from duly.workflow.definition import Workflow, Workflows

from .calling import is_job
from .checking import check_priority, check_prose, check_queue, check_text, check_truth, not_found
from .keys import read_singleton
from .payload import encode_payload
from .runs import Runs

MOST_ID = 80
_decode = msgspec.json.Decoder().decode


class WorkflowRuns:
    """Runs of workflows. Wherever a run is asked for, its id is accepted, and the name that it was started under."""

    def __init__(self, store: SqlStore, settings: Settings, known: Workflows, runs: Runs) -> None:
        self._store = store
        self._settings = settings
        self._known = known
        self._runs = runs

    async def start(
        self,
        workflow: str | Workflow,
        input: Any = None,
        *,
        id: str | None = None,
        version: str | None = None,
        queue: str = DEFAULT_QUEUE,
        priority: int = 0,
        tenant: str = "",
        tags: Sequence[str] = (),
        attributes: Mapping[str, Value] | None = None,
        singleton: str | None = None,
        max_running: int | None = None,
        max_queued: int | None = None,
        connection: Any = None,
    ) -> Run:
        """Ask for a run of a workflow; started again with the same ``id`` it is the same run.

        An ``id`` that a run of another workflow has, or of a job, is refused.
        ``tags`` and ``attributes`` are what it can be found by. Of all runs with one ``singleton`` key at most
        ``max_running`` (1) are open at once, and at most ``max_queued`` wait.
        Without ``version`` the worker that begins it takes the newest it knows. A workflow or a version that neither
        this app nor a live worker knows is refused.
        """
        lane = read_singleton(singleton, max_running=max_running, max_queued=max_queued, run_at=None)
        request = await self._request(
            workflow,
            input,
            id=id,
            version=version,
            queue=check_queue(queue),
            priority=check_priority(priority),
            tenant=tenant,
            singleton=lane,
            marks=make_marks(tags, attributes),
        )
        return _of_workflow(request, await self._runs._submit(request, connection=connection), id)

    async def _request(
        self,
        workflow: str | Workflow,
        input: Any,
        *,
        id: str | None,
        version: str | None = None,
        queue: str = DEFAULT_QUEUE,
        tenant: str = "",
        **words: Any,
    ) -> NewRequest:
        name = workflow.name if isinstance(workflow, Workflow | Job) else workflow
        owning = self._runs._owning
        tenant = owning.tenant(check_text(tenant, "tenant", 128) or "")
        known = await self._check(name, version)
        if known is not None:
            known.read_input(input)
        given_id = self._runs._new_id() if id is None else id
        return NewRequest(
            id=owning.run_id(given_id, tenant),
            given_id=given_id,
            job=handler_name(name, version),
            payload=encode_payload(input, self._settings.payload_limit),
            queue=queue,
            max_attempts=self._settings.default_max_attempts,
            timeout_ms=DEFAULT_TIMEOUT_MS,
            tenant=tenant,
            owner=owning.owner,
            **words,
        )

    async def signal(self, run: str, name: str, payload: Any = None) -> None:
        """Send a signal; it is kept until the run waits for it. Refused once the run has ended.

        One that went on as a new run is followed to what it is now.
        """
        run_id = await self._resolve(run)
        await self._send(run, run_id, _name(name), encode_payload(payload, self._settings.payload_limit))

    async def _send(self, ref: str, run_id: str, name: str, body: str) -> None:
        while not await self._store.signal_run(run_id, name, body):
            newest = await self._runs._newest(run_id)
            if newest is None or newest.id == run_id:
                await self._raise_why(ref, run_id)
            assert newest is not None
            run_id = newest.id
        self._runs._wake()

    async def update(self, run: str, name: str, payload: Any = None) -> Update:
        """Ask a run to take something in, if the validator of that name lets it pass; else nothing is changed."""
        run_id = await self._resolve(run)
        found = await self._runs._newest(run_id)
        if found is None or found.workflow is None or found.status.terminal:
            await self._raise_why(run, run_id if found is None else found.id)
        assert found is not None
        known = self._known.get(found.workflow or "", found.version)
        if known is None or name not in known.updates:
            names = "" if known is None else f"; it takes {', '.join(known.updates) or 'none'}"
            raise ValidationFailed(
                f"workflow {found.workflow!r} has no update {name!r} that is known here{names}", field="name", got=name
            )
        body = encode_payload(payload, self._settings.payload_limit)
        try:
            checked = known.updates[name](payload)
            if inspect.isawaitable(checked):
                await checked
        except Exception as error:  # noqa: BLE001 - a user's function: whatever it raises says no
            return Update(False, str(error) or type(error).__name__)
        await self._send(run, found.id, update_name(name), body)
        return Update(True)

    async def cancel(self, run: str, *, compensate: bool = False) -> Run:
        """Cancel a run and all below it; with ``compensate``, undo first what its steps did. Twice is harmless.

        One that went on as a new run is followed to what it is now.
        """
        run_id = await self._resolve(run)
        if not check_truth(compensate, "compensate"):
            return await self._runs.cancel(run)
        found = await self._runs._newest(run_id)
        if found is None or found.workflow is None:
            await self._raise_why(run, run_id)
        assert found is not None
        run_id = found.id
        while not await self._store.cancel_softly(run_id):
            newest = await self._runs._newest(run_id)
            if newest is None or newest.id == run_id:
                break  # it has ended
            run_id = newest.id
        self._runs._wake()
        after = await self._store.get_run(run_id)
        assert after is not None
        return after

    async def signal_with_start(
        self, workflow: str | Workflow, name: str, payload: Any = None, *, id: str, input: Any = None
    ) -> Run:
        """Start a run unless one of that ``id`` is there, and send it a signal, in one transaction.

        Refused, as a signal is, once the run of that id has ended.
        """
        request = await self._request(workflow, input, id=id)
        body = encode_payload(payload, self._settings.payload_limit)
        run, told = await self._store.signal_with_start(request, _name(name), body)
        _of_workflow(request, run, id)
        if told:
            self._runs._wake()
        else:
            await self._send(id, run.id, _name(name), body)
        return run

    async def query(self, run: str, name: str, default: Any = None) -> Any:
        """The newest value that a run has shown with ``ctx.publish``; ``default`` if it has shown none.

        One that went on as a new run has shown what that has shown; before that shows something, its own.
        """
        run_id = await self._resolve(run)
        newest = await self._runs._newest(run_id)
        if newest is None:
            raise not_found("run", run)
        for id in dict.fromkeys((newest.id, run_id)):
            value = await self._store.read_published(id, _name(name))
            if value is not None:
                return _decode(value)
        return default

    async def marks(self, run: str) -> Marks:
        """The tags and attributes of a run."""
        return read_marks((await self._store.read_marks(await self._resolve(run))).items())

    async def steps(self, run: str) -> list[Step]:
        """What is recorded of a run, by position."""
        return list((await self.history(run)).steps)

    async def history(self, run: str) -> History:
        """What is recorded of a run, how much that is, and a warning when it is nearly as much as it may be."""
        run_id = await self._resolve(run)
        journal = await self._store.read_journal(run_id)
        if not journal.steps and await self._store.get_run(run_id) is None:
            raise not_found("run", run)
        limits = Limits(self._settings.history_steps, self._settings.history_bytes)
        return history_of_steps(journal.steps, limits)

    async def publish(
        self, event: str, payload: Any = None, *, id: str | None = None, tenant: str = "", connection: Any = None
    ) -> Published:
        """Tell every run that waits for this event, and start the jobs and workflows that are declared ``on_event``.

        With an ``id`` of your own it is published once, however often this is sent within seven days. With
        ``connection``, it is published when that transaction commits.
        """
        if id is not None and not (isinstance(id, str) and len(id) <= MOST_ID and is_name(id)):
            raise ValidationFailed(f"id is {id!r}; expected 1 to {MOST_ID} printable characters", field="id", got=id)
        owning = self._runs._owning
        tenant = owning.tenant(check_text(tenant, "tenant", 128) or "")
        new = NewEvent(
            name=_name(event),
            body=encode_payload(payload, self._settings.payload_limit),
            id=self._runs._new_id() if id is None else id,
            keep_ms=0 if id is None else KEPT_MS,
            space=owning.space(tenant),
            tenant=tenant,
            owner=owning.owner,
            limit=self._settings.payload_limit,
        )
        published = await self._store.publish_event(new, connection=connection)
        self._runs._wake()
        return published

    async def on_event(self) -> list[EventHandler]:
        """What events start, by event: as the code of the apps has declared it that started last."""
        return await self._store.list_on_event()

    async def drop_on_event(self, name: str) -> bool:
        """Let no event start this job or workflow any more: for one whose code is gone; False if none did."""
        jobs = [_name(name), handler_name(name)]
        there = any(handler.job in jobs for handler in await self._store.list_on_event())
        await self._store.put_on_event(jobs, [])
        return there

    async def complete_task(self, token: str, result: Any = None) -> bool:
        """End a task that was handed out; False if it has ended before."""
        return await self._end_task(token, encode_payload(result, self._settings.payload_limit), None)

    async def fail_task(self, token: str, error: str) -> bool:
        """End a task that was handed out with an error, which is raised in the body."""
        return await self._end_task(token, None, check_text(error, "error", 4000) or "failed")

    async def receive(self, token: str, payload: Any = None) -> bool:
        """Take in what was posted to a webhook that a run waits for; False if it had come before."""
        secret = await self._store.read_secret(SECRET)
        named = read_hook_token(secret, token) if isinstance(token, str) else None
        body = encode_payload(payload, self._settings.payload_limit)
        ended = None if named is None else await self._store.end_task(*named, result=body, error=None)
        if ended is None:
            raise NotFound("nobody waits at this URL: it is not one that a workflow has handed out, or is of the past")
        self._runs._wake()
        return ended

    async def _end_task(self, token: str, result: str | None, error: str | None) -> bool:
        run_id, _, position = token.rpartition(":") if isinstance(token, str) else ("", "", "")
        if not is_id(run_id) or not position.isdigit():
            raise NotFound(f"token is {token!r}; expected one that ctx.task has given out", token=token)
        theirs = self._runs._owning.whose is None or await self._store.get_run(run_id) is not None
        ended = await self._store.end_task(run_id, int(position), result=result, error=error) if theirs else None
        if ended is None:
            raise NotFound(f"no run waits for the task of token {token!r}", token=token)
        self._runs._wake()
        return ended

    async def _check(self, name: str, version: str | None) -> Workflow | None:
        known = self._known.get(name, version) if isinstance(name, str) else None
        if known is not None:
            return known
        wanted = handler_name(str(name), version)
        for instance in await self._store.list_instances():
            if wanted in instance.jobs:
                return None
        versions = self._known.versions(str(name))
        here = f"; this app knows version {', '.join(versions)}" if versions else ""
        if is_job(name, self._runs._registry) and not versions:
            here = f"; it is a job here: write app.enqueue({name!r})"
        of = "" if version is None else f" in version {version!r}"
        raise WorkflowUnknown(
            f"workflow {name!r}{of} is known neither to this app nor to a live worker{here}",
            field="workflow" if version is None or not versions else "version",
            got=name if version is None else version,
            expected="a registered workflow",
        )

    async def _resolve(self, ref: str) -> str:
        run_id = await self._runs._resolve(ref)
        theirs = self._runs._owning.whose is None
        if run_id is None or not (theirs or await self._store.get_run(run_id)):
            raise not_found("run", ref)
        return run_id

    async def _raise_why(self, ref: str, run_id: str) -> None:
        run = await self._store.get_run(run_id)
        if run is None:
            raise not_found("run", ref)
        if run.workflow is None:
            raise Conflict(f"run {run_id} is one of job {run.job!r}; only workflows wait for messages")
        raise Conflict(f"run {run_id} has ended as {run.status.value}; nobody waits for messages there")


def _of_workflow(request: NewRequest, run: Run, id: str | None) -> Run:
    """The run that has the id that was asked for, unless that is one of something else."""
    asked = parse_handler(request.job)
    assert asked is not None
    if run.workflow == asked[0]:
        return run
    of = f"job {run.job!r}" if run.workflow is None else f"workflow {run.workflow!r}"
    raise Conflict(
        f"id {id!r} is that of run {run.id}, which is one of {of}, not of workflow {asked[0]!r}; choose another id",
        run_id=run.id,
    )


def _name(name: Any) -> str:
    if not isinstance(name, str) or not 1 <= len(name) <= 200:
        raise ValidationFailed(f"name is {name!r}; expected 1 to 200 characters", field="name", got=name)
    return check_prose(name, "name", 200) or ""
