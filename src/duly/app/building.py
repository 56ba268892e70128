"""Turns the arguments of ``create`` into a schedule to be stored, or says what is wrong with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from duly.config import Settings
from duly.core.addresses import read_allowed
from duly.core.errors import DulyError, ValidationFailed
from duly.core.ids import check_key
from duly.core.instants import check_instant
from duly.core.policy import LEFT_RETRY, LEFT_TIMEOUT, Missed
from duly.core.rules.starting import started
from duly.core.schedule import DEFAULT_TIMEOUT_MS, Definition, Facts, Target
from duly.core.timing import Cron, Every, Once, Timing
from duly.engine.registry import Registry
from duly.runtime.chance import Chance
from duly.runtime.clock import Clock
from duly.runtime.collecting import uncollected
from duly.runtime.tracing import Tracing
from duly.store.values import NewSchedule

from .aiming import aimed, check_target, check_topic_payload
from .calling import check_aimed, read_call
from .checking import check_id, check_mapping, check_strict_ids, check_text, check_words
from .hooking import check_webhook
from .moulds import Mould
from .outside import NOWHERE, Outside
from .owning import ANYBODYS, Owning
from .payload import encode_payload
from .words import SCHEDULE_WORDS, UNSET, Words, check_span, merged_words, read_words

_TIMINGS = (Cron, Every, Once)


class Builder:
    """Knows the defaults, the registered jobs and where new ids come from."""

    def __init__(
        self,
        settings: Settings,
        registry: Registry,
        clock: Clock,
        chance: Chance,
        owning: Owning = ANYBODYS,
        outside: Outside = NOWHERE,
        tracing: Tracing | None = None,
    ) -> None:
        self.tracing = tracing
        self._settings = settings
        self._registry = registry
        self._clock = clock
        self._chance = chance
        self._owning = owning
        self._outside = outside
        self._allowed = read_allowed(settings.webhook_allow)
        self._catch_up = settings.default_catch_up

    def schedule(
        self,
        key: str | None = None,
        timing: Timing | None = None,
        *,
        id: str | None = None,
        app: str | None = None,
        created_by: str | None = None,
        **options: Any,
    ) -> NewSchedule:
        """Check every argument; the answer is ready to be stored. ``words.Options`` are the options."""
        id = self._chance.id(self._clock) if id is None else check_id(id)
        key = id if key is None else check_key(key)
        words = self._aimed(read_words(self._named(options), self._settings.payload_limit))
        self._check_ids(options)
        created_by = check_text(created_by, "created_by", 100)
        facts = self._facts(id, key, words, app=app, created_by=created_by)
        return self._new(facts, self._definition(key, timing, words))

    def ids(self, count: int) -> list[str]:
        """So many new ids, in the order in which lists show what bears them."""
        return self._chance.ids(self._clock, count)

    def schedules(self, call: str, many: Sequence[Mapping[str, Any]]) -> list[NewSchedule]:
        """The same for many mappings of arguments; the error of the first that is refused tells its place."""
        made: list[NewSchedule] = []
        mould: Mould | None = None
        try:
            with uncollected():
                for id, arguments in zip(self.ids(len(many)), many, strict=True):
                    given = self._named(check_mapping(call, arguments))
                    if mould is not None and mould.fits(given):
                        made.append(self._moulded(mould, id, given))
                        continue
                    check_words(call, given, SCHEDULE_WORDS)
                    made.append(self.schedule(id=id, **given))
                    mould = Mould(given, made[-1])
        except DulyError as error:
            error.details["item"] = len(made)
            error.add_note(f"this is item {len(made)} of {call}, counted from 0; nothing was stored")
            raise
        return made

    def _moulded(self, mould: Mould, id: str, given: Mapping[str, Any]) -> NewSchedule:
        """Check what is a schedule's own, and take the rest from the mould."""
        limit = self._settings.payload_limit
        key = given.get("key")
        key = id if key is None else check_key(key)
        if mould.own:
            words = read_words({word: given[word] for word in mould.own}, limit)
            self._check_ids(given)
            payload, facts = words.payload or "{}", self._facts(id, key, words)
            self.check_aim(mould.fields["target"], facts.tenant, facts.owner)
        else:
            said = given.get("payload", UNSET)
            payload = "{}" if said is UNSET else encode_payload(said, limit)
            facts = Facts(id=id, key=key, name=key, **mould.facts)
        timing = self.check_timing(given.get("timing"))
        definition = Definition(key=key, timing=timing, payload=payload, **mould.fields)
        return NewSchedule(facts=facts, definition=self._fitted(definition))

    def _facts(
        self, id: str, key: str, words: Words, *, app: str | None = None, created_by: str | None = None
    ) -> Facts:
        self._owning.claim(words.facts)
        paused_at = self._clock.now() if words.enabled is False else None
        facts = Facts(
            id=id, key=key, app=app, paused_at=paused_at, created_by=created_by, **{"name": key, **words.facts}
        )
        facts.name = facts.name or key
        facts.tenant = facts.tenant or ""
        return facts

    def _new(self, facts: Facts, definition: Definition) -> NewSchedule:
        self.check_aim(definition.target, facts.tenant, facts.owner)
        return NewSchedule(facts=facts, definition=definition)

    def check_aim(self, target: Target, tenant: str | None, owner: str | None) -> None:
        """Refuse a target that is not known, or that what belongs to them may not name."""
        self._outside.check(target, tenant, owner)

    def _definition(self, key: str, timing: Timing | None, words: Words) -> Definition:
        definition = Definition(
            key=key,
            timing=self.check_timing(timing),
            target=words.target or check_target(),
            payload=words.payload or "{}",
            **{"catch_up": self._catch_up, **words.definition},
        )
        check_webhook(definition.target, self._allowed)
        definition = aimed(definition, words.definition)
        self._take_defaults(definition, words)
        check_span(definition.start_at, definition.end_at)
        return self._fitted(definition)

    def _take_defaults(self, definition: Definition, words: Words) -> None:
        """Leave to the job what nobody chose, and fill in what it says of itself, where it is known here."""
        left = 0 if words.definition.get("retry") is not None else LEFT_RETRY
        definition.left_to_job = left if "timeout_ms" in words.definition else left | LEFT_TIMEOUT
        self._fill_in(definition, definition.left_to_job)

    def _fill_in(self, definition: Definition, left: int) -> None:
        handler = None if definition.target.outside else self._registry.get(definition.target.handler)
        if handler is None:
            return
        if left & LEFT_RETRY:
            definition.retry = handler.retry
        if left & LEFT_TIMEOUT and handler.has_timeout:
            definition.timeout_ms = handler.timeout_ms

    def _fitted(self, definition: Definition) -> Definition:
        """The definition, if timing and payload go with the rest of it."""
        self.check_payload(definition.target, definition.payload)
        _check_jitter_fits(definition)
        return definition

    def merge_words(self, changes: Mapping[str, Any]) -> Words:
        """Check what is to be merged into a stored schedule."""
        if changes.get("catch_up", UNSET) is None:
            changes = {**changes, "catch_up": self._catch_up}
        words = self._aimed(merged_words(self._named(changes), self._settings.payload_limit))
        self._check_ids(changes)
        if "metadata" in changes:
            self._owning.claim(words.facts, only_given=True)
        return words

    def _check_ids(self, options: Mapping[str, Any]) -> None:
        if self._settings.strict_ids and options.get("metadata"):
            check_strict_ids(options["metadata"])

    def _aimed(self, words: Words) -> Words:
        if isinstance(policy := words.definition.get("catch_up"), Missed):
            words.definition["catch_up"] = replace(self._catch_up, policy=policy)
        if words.target is not None:
            check_aimed(words.target, self._registry)
        return words

    def _named(self, options: Mapping[str, Any]) -> Mapping[str, Any]:
        """The options with a job's name, and the payload it was bound to, in the place of a job or a call."""
        job = options.get("job")
        if job is None or isinstance(job, str):
            return options
        name, payload = read_call(job, options.get("payload", UNSET), self._registry)
        return {**options, "job": name, "payload": payload}

    def merged(self, old: Definition, timing: Timing | None, words: Words, now: int) -> Definition:
        """The definition after a merge: what was not given stays."""
        new = replace(
            old,
            timing=old.timing if timing is None else timing,
            target=words.target or old.target,
            payload=words.payload or old.payload,
            **words.definition,
        )
        if words.target is not None:
            check_webhook(new.target, self._allowed)
        self._merge_left(new, old, words)
        check_span(new.start_at, new.end_at)
        if (new.timing, new.jitter) != (old.timing, old.jitter):
            _check_jitter_fits(new)
        new.timing = anchored(new, old, now)
        if (new.target, new.payload) != (old.target, old.payload):
            self.check_payload(new.target, new.payload)
        return new

    def _merge_left(self, new: Definition, old: Definition, words: Words) -> None:
        """What was left to the job before is left to another job too; a retry of None leaves it anew."""
        given, anew = words.definition, 0
        if new.target != old.target:
            anew = old.left_to_job
        if "retry" in given:
            anew = anew | LEFT_RETRY if given["retry"] is None else anew & ~LEFT_RETRY
        if "timeout_ms" in given:
            anew &= ~LEFT_TIMEOUT
        if anew & LEFT_RETRY:
            new.retry = None
        if anew & LEFT_TIMEOUT:
            new.timeout_ms = DEFAULT_TIMEOUT_MS
        aimed(new, given)
        self._fill_in(new, anew)
        new.left_to_job = anew | still_left(new, old)

    def check_payload(self, target: Target, payload: str) -> None:
        """Refuse a payload that the job could not take, where the job is known here."""
        check_topic_payload(target, payload)
        handler = self._registry.get(target.handler)
        if handler is not None:
            handler.arguments.check(payload)

    def check_timing(self, timing: Timing | None) -> Timing:
        """Answer a timing that this server allows, or refuse it."""
        if not isinstance(timing, _TIMINGS):
            raise ValidationFailed(
                f"timing is {timing!r}; expected Cron(...), Every(...) or Once(...)", field="timing", got=timing
            )
        if isinstance(timing, Every):
            timing.check_minimum(self._settings.min_interval_ms)
            if timing.anchor_ms is not None:
                check_instant(timing.anchor_ms, "anchor")
        # One that has gone by is refused as such, unless it is to fire.
        if isinstance(timing, Once) and (timing.at_ms > 0 or timing.on_past == "fire"):
            check_instant(timing.at_ms, "at")
        self._owning.check_timing(timing, self._clock)
        return timing


def still_left(new: Definition, old: Definition) -> int:
    """What is left to the job as before: whoever says again what an answer showed has chosen nothing."""
    left = 0
    if new.target != old.target:
        return left
    if old.left_to_job & LEFT_RETRY and new.retry == old.retry:
        left |= LEFT_RETRY
    if old.left_to_job & LEFT_TIMEOUT and new.timeout_ms == old.timeout_ms:
        left |= LEFT_TIMEOUT
    return left


def _check_jitter_fits(definition: Definition) -> None:
    """Refuse to move an instant that was asked for exactly."""
    if definition.jitter is not None and isinstance(definition.timing, Once):
        raise ValidationFailed(
            "jitter is given with a one-shot, which is to fire at its instant; leave it out, or use Cron or Every",
            field="jitter",
        )


def anchored(new: Definition, old: Definition, now: int) -> Timing:
    """The timing, counted from the schedule's own start if it asks for that: an edit or a restart is no new start."""
    was = old.timing
    if isinstance(was, Every) and was.anchor == "start" and was.anchor_ms is not None and new.start_at is None:
        return new.timing.anchored_at(was.anchor_ms) if isinstance(new.timing, Every) else new.timing
    return started(new, now).timing
