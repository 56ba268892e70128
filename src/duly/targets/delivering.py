"""Delivers runs: each becomes a message, they go out in batches that form by themselves, and each has its outcome.

A run is settled as done only when its target has confirmed it. Whatever happens before (a crash, a lost confirm, a
server that is away) leaves the run to be sent again, under the same id.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol, assert_never

from duly.core.errors import Conflict, NotFound
from duly.core.failure import ErrorReport
from duly.core.outside import EVERYBODYS, EXPECT_ANSWER, Grant
from duly.core.policy import Retry
from duly.core.run import Claim, Dispatched, Failed
from duly.core.schedule import Schedule
from duly.core.sealed import readable
from duly.engine.context import RunContext
from duly.engine.error_reports import report_of
from duly.engine.outcomes import describe
from duly.engine.outlets import Outlet
from duly.engine.registry import Handler, Mode
from duly.engine.signature import Arguments
from duly.runtime.batcher import Batcher
from duly.runtime.clock import Clock
from duly.runtime.events import Observer

from .envelope import Departure, Format, message_of
from .target import Confirmed, Message, Refused, Stopped, Target, TryAgain, Verdict, result_of

MOST_AT_ONCE = 500
"""Messages in one batch."""

GIVE_UP_AFTER = 30.0
"""Seconds after which a target that does not answer counts as away, whatever it promised."""

DELIVERY_RETRY = Retry(max_attempts=30, delay=5, max_delay=900)
"""The policy of a delivery whose schedule names none: it is tried for five and a half hours."""


class Pause(Protocol):
    """Pauses a schedule."""

    def __call__(self, ref: str, *, reason: str | None = None) -> Awaitable[Any]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a deliverer uses of the app that it belongs to. ``find`` answers schedules by their ids."""

    clock: Clock
    observer: Observer
    most: int
    find: Callable[[Sequence[str]], Awaitable[Sequence[Schedule]]]
    pause: Pause


_CONTEXT_ONLY = Arguments(job="target", context="run", whole=None, fields={}, takes_rest=False)
"""The payload goes out as it is stored: whatever JSON it is, nobody reads it here."""

_DISPATCHED = Dispatched()
_NO_SPEC: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class _Raised(TryAgain):
    """The target's own code raised."""

    report: ErrorReport | None = None


class Deliverer:
    """Sends the runs of one target. With ``together`` one batch is under way at a time, which keeps their order;
    without, each goes alone, and a slow one keeps none from going."""

    def __init__(
        self,
        target: Target,
        name: str,
        around: Surroundings,
        *,
        together: bool = True,
        grant: Grant = EVERYBODYS,
    ) -> None:
        self._target = target
        self._grant = grant
        self._outlet = Outlet(name, around.clock, around.observer, around.most)
        self._clock = around.clock
        self._observer = around.observer
        self._find = around.find
        self._pause = around.pause
        self._batcher: Batcher[Claim, Verdict] | None = None
        if together:
            self._batcher = Batcher(self._send, most=MOST_AT_ONCE)

    def handler(self, name: str) -> Handler:
        """What the registry is given: the engine knows a target only as the handler of its runs."""
        return Handler(
            name=name,
            function=self._deliver,
            mode=Mode.OUTSIDE,
            arguments=_CONTEXT_ONLY,
            retry=DELIVERY_RETRY,
            outlet=self._outlet,
        )

    async def _deliver(self, run: RunContext) -> Failed | Dispatched | None:
        claim = run._claim
        if self._batcher is None:
            (verdict,) = await self._send([claim])
        else:
            verdict = await self._batcher.put(claim)
        return await self._outcome(verdict, claim)

    async def _outcome(self, verdict: Verdict, claim: Claim) -> Failed | Dispatched | None:
        match verdict:
            case Confirmed():
                return _DISPATCHED if spec_of(claim).get("expect") == EXPECT_ANSWER else None
            case Refused(reason):
                return Failed(f"{self._outlet.name} refused it: {reason}", fatal=True)
            case TryAgain(reason, retry_after):
                wait_ms = round((retry_after or 0) * 1000)
                report = verdict.report if isinstance(verdict, _Raised) else None
                return Failed(f"{self._outlet.name}: {reason}", wait_ms=wait_ms, report=report)
            case Stopped(reason):
                if claim.schedule_id is not None:
                    with suppress(Conflict, NotFound):  # it has ended, or is gone: it sends nothing more anyway
                        await self._pause(claim.schedule_id, reason=f"{self._outlet.name} wants no more: {reason}")
                return Failed(f"{self._outlet.name} wants no more: {reason}", fatal=True)
            case unknown:
                assert_never(unknown)

    async def _send(self, claims: Sequence[Claim]) -> Sequence[Verdict]:
        metadata = await self._metadata(claims)
        messages: list[Message] = []
        verdicts: dict[str, Verdict] = {}
        for claim in claims:
            if not self._grant.open and not self._allows(metadata.get(claim.schedule_id or "")):
                verdicts[claim.id] = Refused("there is no such target for its owner")
                continue
            try:
                messages.append(message_of(_departure(claim, metadata.get(claim.schedule_id or "", {}))))
            except Exception as error:  # noqa: BLE001 - one run that cannot be told must not hold up the others
                verdicts[claim.id] = Refused(f"no message can be made of it: {describe(error)}")
        if messages:
            answers = await self._ask(messages)
            verdicts |= {message.id: answer for message, answer in zip(messages, answers, strict=True)}
        return [verdicts[claim.id] for claim in claims]

    async def _ask(self, messages: Sequence[Message]) -> Sequence[Verdict]:
        began = self._clock.steady()
        try:
            async with asyncio.timeout(GIVE_UP_AFTER):
                answers = list(await self._target.send(messages))
        except TimeoutError:
            answers = [TryAgain(f"no answer within {GIVE_UP_AFTER:g} s", away=True)] * len(messages)
        except Exception as error:  # noqa: BLE001 - a target is somebody's own code: whatever it raises, nothing is lost
            raised = _Raised(describe(error), away=True, report=report_of(error))
            answers = [raised] * len(messages)
        if len(answers) != len(messages):
            wrong = f"the target answered {len(answers)} verdicts for {len(messages)} messages; expected one for each"
            answers = [TryAgain(wrong)] * len(messages)
        results = Counter(map(result_of, answers))
        self._observer.messages_sent(self._outlet.name, results, self._clock.steady() - began)
        away = next((one.reason for one in answers if isinstance(one, TryAgain) and one.away), None)
        if away is not None:
            self._outlet.missed(away)
        else:
            self._outlet.reached()
        return answers

    async def _metadata(self, claims: Sequence[Claim]) -> Mapping[str, Mapping[str, str | None]]:
        """Whose the runs are, for the formats that say it, and for a target that is not everybody's."""
        asked = (claim for claim in claims if not self._grant.open or _says_whose(claim))
        ids = sorted({claim.schedule_id for claim in asked if claim.schedule_id is not None})
        return {schedule.id: schedule.metadata for schedule in await self._find(ids)} if ids else {}

    def _allows(self, metadata: Mapping[str, str | None] | None) -> bool:
        """Whether whose it is may send here: the configuration may have changed since the schedule was made."""
        return metadata is not None and self._grant.covers(metadata["tenant_id"], metadata["owner_id"])


def _departure(claim: Claim, metadata: Mapping[str, str | None]) -> Departure:
    context = RunContext(claim)
    definition = claim.definition
    return Departure(
        run_id=claim.id,
        payload=readable(claim.payload or "null"),
        scheduled_at=context.scheduled_at,
        fired_at=context.fired_at,
        schedule_id=claim.schedule_id,
        key=claim.key,
        window_key=claim.window_key,
        topic=None if definition is None else definition.target.topic,
        timezone="UTC" if definition is None else definition.timing.timezone,
        metadata=metadata,
        attempt=claim.attempt,
        max_attempts=claim.max_attempts,
        fence=claim.fence,
        spec=spec_of(claim),
        trace=claim.trace,
    )


def spec_of(claim: Claim) -> Mapping[str, Any]:
    """The words of the target that a run was fired for; not to be changed."""
    if claim.definition is None or claim.definition.target.spec is None:
        return _NO_SPEC
    return _read_spec(claim.definition.target.spec)


@lru_cache(maxsize=4096)
def _read_spec(text: str) -> Mapping[str, Any]:
    """Most schedules of a target say the same of it, and each run asks several times."""
    spec: Mapping[str, Any] = json.loads(text)
    return spec


def _says_whose(claim: Claim) -> bool:
    return spec_of(claim).get("format") not in (Format.RAW, Format.MERGED)
