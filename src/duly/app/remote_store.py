"""A store that is a server: what the engine asks to work, asked over HTTP. It can do nothing else.

The engine's own worker runs on it, with its timeouts, threads, processes, heartbeats and drain: there is one worker,
whatever is behind it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, assert_never

import msgspec

from duly.core.errors import Conflict, DulyError, Invalid, LeaseLost, OutcomeUnknown, StoreError, StoreUnavailable
from duly.core.failure import ErrorReport
from duly.core.policy import LEFT_RETRY, LEFT_TIMEOUT, Retry
from duly.core.rules.suspects import ONE, Room
from duly.core.run import (
    Cancelled,
    Claim,
    Completed,
    Continued,
    Dispatched,
    Failed,
    Interrupted,
    Lost,
    Outcome,
    Released,
    RunStatus,
    Snoozed,
    Suspended,
)
from duly.runtime.clock import Clock
from duly.store.values import Beat, Claimed, Held, Instance, Settled, Settlement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from duly.client import AsyncClient, Client

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode
MOST = 100
AT_ONCE = 8
"""How many reports are on their way at a time."""

_LEFT = {"retry": LEFT_RETRY, "timeout": LEFT_TIMEOUT}
LISTEN_FOR = 20.0
RETRY_AFTER = 1.0


@dataclass(slots=True, kw_only=True)
class RemoteClaim(Claim):
    """A claim without its schedule's definition: the server has looked up what a handler may ask."""

    schedule_key: str | None = None
    window: str | None = None
    left: int = 0

    @property
    def left_to_job(self) -> int:
        return self.left

    @property
    def key(self) -> str | None:
        return self.schedule_key

    @property
    def window_key(self) -> str | None:
        return self.window


class RemoteStore:
    """Sessions and claims behind a server; one that does not answer is told as a store that does not."""

    name = "remote"

    def __init__(self, client: AsyncClient, beating: Client, clock: Clock, jobs: Sequence[str]) -> None:
        self._client = client
        self._beating = beating
        self._clock = clock
        self._jobs = list(jobs)
        self._sessions: dict[int, str] = {}
        self._listeners: list[Callable[[str], None]] = []
        self._reporting = asyncio.Semaphore(AT_ONCE)

    def on_change(self, listener: Callable[[str], None]) -> None:
        self._listeners.append(listener)

    async def listen(self) -> None:
        """Pass on, until cancelled, what the server says is new."""
        while True:
            session = next(reversed(self._sessions.values()), None)
            try:
                if session is None:
                    raise StoreUnavailable("there is no session yet")
                body = {"session": session, "jobs": self._jobs, "limit": 0, "waitSeconds": LISTEN_FOR}
                changed = (await self._client.worker.claim(body))["changed"]
            except DulyError:  # the heartbeat deals with it
                await self._clock.wait(asyncio.Event(), RETRY_AFTER)
                continue
            for topic in changed:
                for listener in self._listeners:
                    listener(topic)

    async def terms(self) -> tuple[float, float]:
        """The server's lease and heartbeat, in seconds, as a session is told that begins and ends here."""
        answer = await self._client.worker.claim({"jobs": self._jobs, "limit": 0})
        await self._client.worker.release({"session": answer["session"]})
        return float(answer["leaseSeconds"]), float(answer["heartbeatSeconds"])

    async def open_session(self, instance: Instance, *, lease_ms: int) -> int:
        """Begin a session; the server has its own number for it."""
        body = {"jobs": self._jobs, "limit": 0, "name": instance.name, "host": instance.host, "pid": instance.pid}
        with _as_a_store():
            answer = await self._client.worker.claim({**body, "version": instance.version})
        self._sessions[instance.session] = answer["session"]
        return self._clock.now()

    async def beat(self, session: int, *, lease_ms: int, skew_ms: int | None = None) -> Beat:
        with _as_a_store():
            try:
                return self._heard(await self._client.worker.heartbeat({"session": self._sessions[session]}))
            except LeaseLost:
                return Beat(self._clock.now(), alive=False)

    def beat_sync(self, session: int, *, lease_ms: int, skew_ms: int | None = None) -> Beat:
        with _as_a_store():
            try:
                return self._heard(self._beating.worker.heartbeat({"session": self._sessions[session]}))
            except LeaseLost:
                return Beat(self._clock.now(), alive=False)

    async def claim_runs(
        self,
        session: int,
        *,
        jobs: Sequence[str],
        limit: int,
        suspects: Room = ONE,
        queues: Collection[str] | None = None,
    ) -> Claimed:
        body = {
            "session": self._sessions[session],
            "jobs": list(jobs),
            "limit": min(limit, MOST),
            "suspects": min(suspects.most, MOST) if suspects.alone and suspects.most > 0 else 0,
        }
        now = self._clock.now()
        with _as_a_store():
            try:
                answer = await self._client.worker.claim(body)
            except LeaseLost:
                return Claimed(now, [], alive=False)
        due, claims = answer["nextDueSeconds"], [_claim(run) for run in answer["runs"]]
        if len(claims) == MOST < limit:
            due = 0  # there may be more than can be asked for at once
        return Claimed(
            now,
            claims,
            next_due_at=None if due is None else now + round(due * 1000),
            held_back=frozenset(answer["heldBack"]),
        )

    async def settle(self, settlements: Sequence[Settlement]) -> Settled:
        answers = await asyncio.gather(*map(self._report, settlements), return_exceptions=True)
        ended: dict[str, RunStatus] = {}
        lost: list[str] = []
        for settlement, answer in zip(settlements, answers, strict=True):
            if isinstance(answer, LeaseLost):
                lost.append(settlement.claim.id)
            elif isinstance(answer, BaseException):
                raise answer  # all are reported again: what was kept is merely repeated
            elif answer.terminal:
                ended[settlement.claim.id] = answer
        return Settled(self._clock.now(), ended, lost)

    async def close_session(self, session: int, *, started: Collection[str] = ()) -> int:
        number = self._sessions.pop(session, None)
        if number is None:
            return 0
        with _as_a_store():
            return int((await self._client.worker.release({"session": number}))["released"])

    async def _report(self, settlement: Settlement) -> RunStatus:
        verb, words = _told(settlement.outcome, settlement.retry)
        if verb == "fail" and settlement.claim.granted is not None:
            words["maxAttempts"] = settlement.claim.max_attempts
        report = {
            "session": self._sessions.get(settlement.session or 0, "1"),
            "runId": settlement.claim.id,
            "fence": settlement.claim.fence,
        }
        ask: Any = getattr(self._client.worker, verb)
        async with self._reporting:
            with _as_a_store():
                try:
                    answer = await ask(report | words)
                except Conflict:  # it was cancelled before it was done, and has ended so
                    return RunStatus.CANCELLED
        return RunStatus(answer.get("status", RunStatus.PENDING))

    def _heard(self, answer: dict[str, Any]) -> Beat:
        held = [Held(run["runId"], run["fence"], run["cancelRequested"]) for run in answer["runs"]]
        return Beat(self._clock.now(), alive=True, held=held)


@contextmanager
def _as_a_store() -> Iterator[None]:
    """A server that does not answer, or not to us for now, is to the engine what a store is that does not.

    Only what it refuses for what it is, or because the lease is lost, is refused for good.
    """
    try:
        yield
    except (Invalid, LeaseLost, StoreError):
        raise
    except DulyError as error:
        raise OutcomeUnknown(error.message, **error.details) from error


def _told(outcome: Outcome, retry: Retry) -> tuple[str, dict[str, Any]]:
    """Which report an outcome is, and what it says."""
    match outcome:
        case Completed(result):
            return "complete", {} if result is None else {"result": _decode(result)}
        case Failed(error, fatal=fatal, timed_out=timed_out, report=report):
            policy = {
                "backoff": str(retry.backoff),
                "delaySeconds": retry.delay,
                "maxDelaySeconds": retry.max_delay,
                "jitter": retry.jitter,
            }
            words = {"error": error or "it failed", "fatal": fatal, "timedOut": timed_out}
            return "fail", words | {"retryPolicy": policy} | _reported(report)
        case Snoozed(for_ms):
            return "release", {"snoozeSeconds": for_ms / 1000}
        case Released(started=True):
            return "release", {"started": True}
        case Interrupted():
            return "release", {"started": True, "interrupted": True}
        case (
            Released() | Cancelled() | Lost() | Suspended() | Dispatched() | Continued()
        ):  # the last three are not lent
            return "release", {}
        case unknown:
            assert_never(unknown)


def _reported(report: ErrorReport | None) -> dict[str, Any]:
    """Return the fields of a report; none without one, because an older server rejects unknown fields."""
    if report is None:
        return {}
    words = {"errorType": report.type, "errorLocation": report.location, "stack": report.stack}
    told: dict[str, Any] = {name: value for name, value in words.items() if value is not None}
    return told | {"stackTruncated": True} if report.truncated else told


def _claim(run: dict[str, Any]) -> Claim:
    timeout = run["timeoutSeconds"]
    scheduled_at = _ms(run["scheduledAt"])
    return RemoteClaim(
        id=run["runId"],
        job=run["jobType"],
        kind=run["kind"],
        queue=run["queue"],
        attempt=run["attemptNumber"],
        max_attempts=run["maxAttempts"],
        fence=run["fence"],
        payload=_encode(run["payload"]).decode(),
        schedule_id=run["scheduleId"],
        revision=None,
        window_at=scheduled_at,
        due_at=scheduled_at,
        fired_at=_ms(run["firedAt"]),
        lane=None,
        timeout_ms=None if timeout is None else round(timeout * 1000),
        tenant="",
        suspect=run["lostBefore"],
        schedule_key=run["scheduleKey"],
        window=run["windowKey"],
        left=sum(_LEFT[word] for word in run.get("leftToJob", ()) if word in _LEFT),  # an older server tells none
    )


def _ms(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1000)
