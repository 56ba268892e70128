"""Events: they tell the runs that wait for them and start those of the jobs that are declared for them."""

from __future__ import annotations

from collections.abc import Sequence

from duly.core.ids import named_run_id
from duly.core.on_event import EventHandler, Gathered, Published, add_event, begin_gathering, event_run_name
from duly.core.steps import StepKind
from duly.store.narrowing import owned
from duly.store.publishing import NewEvent
from duly.store.statements import Program, batch, columns, query
from duly.store.values import NewRequest

from .enqueueing import enqueue
from .stepping import send

EVENT_HANDLER = ("event", "job", "queue", "max_attempts", "timeout_ms", "quiet_ms", "most", "within_ms")


def publish_event(now: int, event: NewEvent) -> Program[Published]:
    """Tell and start all that an event concerns, in one transaction; see ``Stepping.publish_event``."""
    realm = {"tenant": event.tenant, "owner": event.owner or ""}
    if event.keep_ms:
        expires_at = now + event.keep_ms
        if not (yield query("take_event_id", id=event.id, now=now, expires_at=expires_at, **realm)):
            return Published(repeated=True)
    handlers = yield from _handlers(event.name)
    gathering = [handler for handler in handlers if handler.gathers]
    requests = [_request(event, h, h.payload(event.body)) for h in handlers if not h.gathers]
    taken = (yield from _gather(now, event, gathering, realm, requests)) if gathering else []
    made = (yield from enqueue(now, requests)) if requests else []
    waiters = yield owned("event_waiters", name=event.name)
    told = yield from send(now, [(row[0], StepKind.EVENT, event.name, event.body, None) for row in waiters])
    return Published(told=len(told), runs=sorted({run.id for run in made} | set(taken)))


def _handlers(event: str) -> Program[list[EventHandler]]:
    rows = yield query("event_handlers", event=event)
    return [EventHandler(**dict(zip(EVENT_HANDLER, row, strict=True))) for row in rows]


def _gather(
    now: int,
    event: NewEvent,
    handlers: Sequence[EventHandler],
    realm: dict[str, str],
    requests: list[NewRequest],
) -> Program[list[str]]:
    """Let the runs that wait take the event in; answer them. Where there is none, ask for one."""
    shared = {"event": event.name, **realm}
    jobs = {"job": [handler.job for handler in handlers]}
    held = {row[0]: row[1:] for row in (yield batch("hold_gatherings", jobs, now=now, **shared))}
    ids = sorted({run_id for run_id, _ in held.values() if run_id is not None})
    waiting = {row[0]: row[1:] for row in (yield query("lock_gathered", ids=ids, now=now))} if ids else {}
    moved: list[tuple[str, str, int]] = []
    written: list[tuple[str, str, int]] = []
    taken: list[str] = []
    for handler in handlers:
        run_id, n = held[handler.job]
        found = waiting.get(run_id)
        so_far = None if found is None else Gathered(found[0], found[1], n, found[2])
        added = None if so_far is None else add_event(handler, so_far, event.body, now, event.limit)
        if added is not None:
            moved.append((run_id, added.payload, added.due_at))
            taken.append(run_id)
        else:
            if so_far is not None:  # it has no room: it goes, and the next one begins
                moved.append((run_id, so_far.payload, now))
            added = begin_gathering(handler, event.body, now)
            requests.append(_request(event, handler, added.payload, added.due_at))
            run_id = requests[-1].id
        written.append((handler.job, run_id, added.n))
    if moved:
        yield batch("move_gathered", columns(("id", "payload", "due_at"), moved))
    yield batch("write_gatherings", columns(("job", "run_id", "n"), written), **shared)
    return taken


def _request(event: NewEvent, handler: EventHandler, payload: str, run_at: int | None = None) -> NewRequest:
    return NewRequest(
        id=named_run_id(event.space, event_run_name(event.id, handler)),
        job=handler.job,
        payload=payload,
        queue=handler.queue,
        max_attempts=handler.max_attempts,
        run_at=run_at,
        timeout_ms=handler.timeout_ms,
        tenant=event.tenant,
        owner=event.owner,
        trace=event.trace,
    )


def put_on_event(now: int, jobs: Sequence[str], handlers: Sequence[EventHandler]) -> Program[None]:
    """Keep what starts these jobs; see ``Stepping.put_on_event``."""
    wanted = sorted(handlers, key=lambda one: (one.event, one.job))  # in one order: instances may start at once
    kept = {"events": [one.event for one in wanted], "handlers": [one.job for one in wanted]}
    yield query("drop_event_handlers", jobs=sorted(jobs), **kept)
    if wanted:
        rows = [tuple(getattr(one, name) for name in EVENT_HANDLER) for one in wanted]
        yield batch("put_event_handlers", columns(EVENT_HANDLER, rows))


def list_on_event(now: int) -> Program[list[EventHandler]]:
    """All that events start, by event."""
    rows = yield query("list_event_handlers")
    return [EventHandler(**dict(zip(EVENT_HANDLER, row, strict=True))) for row in rows]
