"""The checks of ``duly doctor``: each answers findings, and none changes anything."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from duly.app.stores import inspect_store, open_store
from duly.config import Loaded
from duly.config.masking import mask_url
from duly.core.errors import ConfigurationError, DulyError, NotAuthorised
from duly.core.outside import what_it_takes
from duly.core.timing import tz_version
from duly.core.version import VERSION
from duly.runtime.clock import SystemClock
from duly.store.inspection import Finding, Inspection
from duly.store.methods.surveying import Survey, survey
from duly.store.rights import RightsMissing

from .reach import PATIENCE
from .times import in_words, instant_ms, relative, system_now

if TYPE_CHECKING:
    from duly.client import Client
    from duly.store.values import Instance

SKEW_MS = 2000
"""Clocks this far apart are worth a word: schedules fire by the store's, people look at their own."""

DELIVERED_MS = 300_000
"""A message that waits longer is worth a word; the alert DulyOutboxOld says the same."""


def check_config(loaded: Loaded) -> Iterator[Finding]:
    files = f"read {', '.join(loaded.files)}" if loaded.files else "no file; environment and defaults"
    yield Finding("ok", "configuration", files)
    for warning in loaded.warnings:
        yield Finding("warn", "configuration", warning)


def check_zones() -> Iterator[Finding]:
    yield Finding("ok", "time zones", f"tzdata {tz_version()}")


def check_store(
    url: str, *, grace_ms: int, issuer: str | None = None, sealed_with: Sequence[str] = ()
) -> Iterator[Finding]:
    """The database: whether it can be reached, how it is set, and how those who use it fare."""
    place = mask_url(url)
    try:
        found = inspect_store(url)
    except DulyError as error:
        subject = "configuration" if type(error) is ConfigurationError else "store"
        yield Finding("fail", subject, error.message, _advice(error, place))
        return
    yield Finding("ok", "store", f"{place}, {found.version}")
    yield from _schema(found)
    yield from found.findings
    if found.schema == found.newest:
        try:
            seen, mine = asyncio.run(_survey(url, sealed_with))
        except DulyError as error:
            yield Finding("fail", "store", error.message)
            return
        yield from _clock(found, seen, mine)
        yield from _switch(seen)
        yield from _keys(seen, issuer)
        yield from _seals(seen, sealed_with)
        yield from _instances(seen)
        yield from _work(seen, grace_ms)
        yield from _left(seen)


def check_server(url: str, key: str | None) -> Iterator[Finding]:
    """A server: whether it answers, is ready, and takes the key; and how those who share its store fare."""
    from duly.client import Client

    try:
        with Client(url, key=key, patience=PATIENCE) as client:
            client.server.ready()
            yield Finding("ok", "server", f"{client.place} is ready")
            client.schedules.list(limit=1)
            yield Finding("ok", "key", "the server lets us look" + ("" if key else ", without a key"))
            state = client.firing.state()
            if state["paused"]:
                restored = state["restoredAt"] is not None
                yield Finding("warn", "firing", paused_words(state["by"], state["reason"]), how_to_resume(restored))
            else:
                yield Finding("ok", "firing", "on")
                yield from _late(client)
            yield from _fleet(client)
    except DulyError as error:
        yield Finding(
            "fail", "server", error.message, "`duly doctor` beside the server itself, on its store, sees more"
        )


def _late(client: Client) -> Iterator[Finding]:
    """Whether a schedule that the key may see should have fired and did not."""
    late = client.schedules.late(limit=1)["items"]
    if late and late[0]["health"] == "overdue":
        yield _overdue(relative(instant_ms(late[0]["fireAt"]), system_now()))
    else:
        yield Finding("ok", "schedules", "none that the server shows us is overdue")


def _fleet(client: Client) -> Iterator[Finding]:
    """Who is alive, and what they left undone; only some keys may ask for that."""
    try:
        alive, stats = client.server.instances()["items"], client.schedules.stats()
    except NotAuthorised:
        words = "this key may not ask who is alive and what waits: neither was looked at"
        yield Finding("warn", "instances", words, "a key with the scope admin may; so may `duly doctor` on the store")
        return
    yield from _alive([(one["name"], one["roles"]) for one in alive])
    if stats["unknownJob"]:
        words = f"{stats['unknownJob']} of jobs that no live worker knows wait"
        yield Finding("warn", "runs", words, "start a worker whose app has those jobs, or cancel them")
    elif any("worker" in one["roles"] for one in alive):
        yield _all_known()
    if stats["dead"]:
        yield _dead(stats["dead"])


def _schema(found: Inspection) -> Iterator[Finding]:
    if not found.schema:
        words = "the database is empty" if found.exists else "there is no database yet"
        yield Finding("warn", "schema", words, "`duly db migrate`, or the first start of duly, sets it up")
    elif found.pending:
        words = f"schema {found.schema}; this version of duly needs {found.newest}"
        if found.kind == "sqlite":
            yield Finding("warn", "schema", words, "`duly db migrate`, or the next start of duly, upgrades it")
        else:
            yield Finding("fail", "schema", words, "`duly db migrate`, when no older duly is running on it")
    else:
        yield Finding("ok", "schema", f"{found.schema}, up to date")


async def _survey(url: str, sealed_with: Sequence[str]) -> tuple[Survey, int]:
    clock = SystemClock()
    store = open_store(url, clock, keys=sealed_with)
    await store.open()
    try:
        before = clock.now()
        seen = await store.driver.read(survey)
        return seen, (before + clock.now()) // 2
    finally:
        await store.close()


def _clock(found: Inspection, seen: Survey, mine: int) -> Iterator[Finding]:
    if found.kind == "sqlite":
        yield Finding("ok", "clock", "the store uses this machine's")
        return
    skew = abs(seen.now - mine)
    if skew > SKEW_MS:
        words = f"the store's clock is {in_words(skew)} {'ahead of' if seen.now > mine else 'behind'} this machine's"
        yield Finding("warn", "clock", words, "schedules fire by the store's; let both follow a time server")
    else:
        yield Finding("ok", "clock", f"{skew} ms from the store's")


def _alive(instances: Sequence[tuple[str, Sequence[str]]]) -> Iterator[Finding]:
    """The processes that are alive, by name and roles, and the roles that nobody has."""
    roles = {role for _, has in instances for role in has}
    if not instances:
        yield Finding("warn", "instances", "none is alive: nothing fires and nothing runs", "start one: duly serve")
        return
    names = ", ".join(f"{name} ({'+'.join(has)})" for name, has in instances[:5])
    more = f" and {len(instances) - 5} more" if len(instances) > 5 else ""
    yield Finding("ok", "instances", f"{len(instances)} alive: {names}{more}")
    unfired = "nothing fires, and what a dead instance ran stays as it is"
    for role, loss in (("scheduler", unfired), ("worker", "nothing runs")):
        if role not in roles:
            yield Finding("warn", "instances", f"none of them is a {role}: {loss}", f"start one: duly {role}")


def _instances(seen: Survey) -> Iterator[Finding]:
    yield from _alive([(instance.name, instance.roles) for instance in seen.instances])
    yield from _skewed(seen.instances)
    yield from _leader(seen)
    yield from _differences(seen.instances)


def _skewed(instances: list[Instance]) -> Iterator[Finding]:
    """Instances whose clock is far from the store's, as they measured it themselves."""
    for one in instances:
        if one.skew_ms is not None and abs(one.skew_ms) > SKEW_MS:
            words = (
                f"{in_words(abs(one.skew_ms))} {'behind' if one.skew_ms > 0 else 'ahead of'} the store's on {one.name}"
            )
            yield Finding("warn", "clock", words, "schedules fire by the store's; let both follow a time server")


def _leader(seen: Survey) -> Iterator[Finding]:
    """Who leads, where instances elect a leader."""
    lease = seen.leader
    if lease is None:
        return
    names = [instance.name for instance in seen.instances if instance.session == lease.session]
    if lease.expires_at >= seen.now:
        yield Finding("ok", "leader", f"{names[0] if names else 'an instance that is gone'}, term {lease.term}")
    else:
        words = f"nobody leads; the last lease ran out {relative(lease.expires_at, seen.now)}, in term {lease.term}"
        advice = "fine if no instance has `election` set any more; else their log says why none of them leads"
        yield Finding("warn", "leader", words, advice)


def _differences(instances: list[Instance]) -> Iterator[Finding]:
    """Instances that would not agree with one another, or with this program."""
    versions = {VERSION, *(instance.version for instance in instances)}
    if len(versions) > 1:
        words = f"several versions of duly: {', '.join(sorted(versions))}"
        yield Finding("warn", "instances", words, "fine while upgrading; bring them together")
    zones = {tz_version(), *(instance.tz_version for instance in instances)}
    if len(zones) > 1:
        words = f"several versions of the zones' rules: {', '.join(sorted(zones))}"
        advice = "install the same tzdata everywhere, or windows near a new rule differ"
        yield Finding("warn", "time zones", words, advice)


def _keys(seen: Survey, issuer: str | None) -> Iterator[Finding]:
    """Who may call the API of this store."""
    token = f", or a token of {issuer}" if issuer else ""
    if seen.keys < 0 and issuer is None:
        yield Finding(
            "ok", "callers", "no key was made: an API on this machine is open, and none is served to other machines"
        )
    elif seen.keys == 0 and issuer is None:
        yield Finding("warn", "callers", "every key is revoked or has expired", "make one: duly key create")
    else:
        yield Finding("ok", "callers", f"they need one of {max(0, seen.keys)} keys that are good{token}")


def _seals(seen: Survey, sealed_with: Sequence[str]) -> Iterator[Finding]:
    if not sealed_with:
        return
    first = sealed_with[0].partition(":")[0]
    others = [name for name in seen.seals if name != first]
    if others:
        words = f"new values: {first}; older ones may need {', '.join(others)}"
        yield Finding("warn", "encryption", words, "`duly db reseal`, once every instance has the first key first")
    else:
        yield Finding("ok", "encryption", f"payloads are sealed with key {first}")


def _switch(seen: Survey) -> Iterator[Finding]:
    state = seen.firing
    if not state.paused:
        yield Finding("ok", "firing", "on")
        return
    yield Finding("warn", "firing", paused_words(state.by, state.reason), how_to_resume(state.restored_at is not None))


def paused_words(by: str | None, reason: str | None) -> str:
    return f"nothing fires: paused by {by or 'somebody'}: {reason or 'no reason given'}"


def how_to_resume(restored: bool) -> str:
    return "`duly resume --all --backlog fire|skip|latest`" if restored else "`duly resume --all` lets it go on"


def _work(seen: Survey, grace_ms: int) -> Iterator[Finding]:
    owed = seen.next_fire_at
    if seen.firing.paused:
        pass  # said already: what is due waits for the switch
    elif owed is not None and owed < seen.now - grace_ms:
        yield _overdue(relative(owed, seen.now))
    else:
        due = "nothing is due" if owed is None else f"the next fire is {relative(owed, seen.now)}"
        yield Finding("ok", "schedules", f"none is overdue; {due}")
    for job, count in seen.unknown.items():
        words = f"{count} of job {job!r}, which no live worker knows, wait{'s' if count == 1 else ''}"
        advice = what_it_takes(job) or "start a worker whose app has that job"
        yield Finding("warn", "runs", words, f"{advice}, or cancel them")
    # While no worker lives nobody has looked for runs that none of them knows.
    if not seen.unknown and any("worker" in instance.roles for instance in seen.instances):
        yield _all_known()


def _overdue(since: str) -> Finding:
    advice = "is a scheduler alive, and can it write? its log says what it does"
    return Finding("fail", "schedules", f"overdue: the oldest fire was due {since}", advice)


def _all_known() -> Finding:
    return Finding("ok", "runs", "none waits for a job that no live worker knows")


def _dead(count: int) -> Finding:
    words = f"{'1 run has' if count == 1 else f'{count} runs have'} failed for good and not been dealt with"
    return Finding("warn", "dead letters", words, "`duly run list --dead`, then `duly run redrive` or `acknowledge`")


def _left(seen: Survey) -> Iterator[Finding]:
    """What was not delivered, and what failed for good, where there is any."""
    if seen.waits.outbox_ms > DELIVERED_MS:
        words = f"the oldest message to a target has waited for {in_words(seen.waits.outbox_ms)}"
        yield Finding("warn", "deliveries", words, "`duly queue list` shows the queues target:NAME; the log says why")
    if seen.waits.dead:
        yield _dead(seen.waits.dead)


def _advice(error: DulyError, place: str) -> str | None:
    told = isinstance(error, RightsMissing) or "damaged" in error.details  # the error itself says what to do
    if error.code == "STORE_UNAVAILABLE" and not told:
        return f"is the database running, and is {place} right?"
    return None
