"""Events, as the model tells them: read off what is different after a call, whatever the call was."""

import inspect
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from duly.core.event import RESET, Event
from duly.core.instants import to_datetime
from duly.runtime.clock import Clock
from duly.store.methods.events import SETTLES_AFTER_MS
from duly.store.protocol import Watching
from duly.store.watching import Events, Watched
from tests.contract.suite.tables import TABLES, Dump

CHANGES = {
    "edit": "schedule.updated",
    "pause": "schedule.paused",
    "resume": "schedule.resumed",
    "cancel": "schedule.cancelled",
    "reschedule": "schedule.cancelled",
    "delete": "schedule.deleted",
}
_WATCHING = {name for name in vars(Watching) if not name.startswith("_")}
_SILENT = {"now", "open", "close", *_WATCHING}


def told_between(before: Dump, after: Dump, now: int) -> list[Event]:
    """What must have been told of one call, in no order; without numbers."""
    return list(_told(_named(before), _named(after), now))


def _named(dump: Dump) -> dict[str, list[dict[str, Any]]]:
    return {table: [dict(zip(TABLES[table], row, strict=True)) for row in rows] for table, rows in dump.items()}


def _told(before: dict[str, list[dict[str, Any]]], after: dict[str, list[dict[str, Any]]], now: int) -> Iterator[Event]:
    facts = {row["id"]: row for row in after["schedules"]}
    owners = {row["run_id"]: row["owner"] for row in after["owners"]}
    open_before = {row["id"]: row for row in before["runs"]}
    open_after = {row["id"]: row for row in after["runs"]}

    def of_run(name: str, run: dict[str, Any], attempt: int, error: str | None) -> Event:
        facts_of = facts.get(run["schedule_id"], {})
        return Event(
            name=name,
            at=to_datetime(now),
            schedule_id=run["schedule_id"],
            schedule_key=facts_of.get("key"),
            owner=owners.get(run["id"], facts_of.get("owner")),
            tenant=run["tenant"],
            run_id=run["id"],
            job=run["job"],
            attempt=attempt,
            reason=run.get("reason"),
            error=error,
        )

    def of_schedule(name: str, schedule_id: str) -> Event:
        row = facts[schedule_id]
        return Event(
            name=name,
            at=to_datetime(now),
            schedule_id=schedule_id,
            schedule_key=row["key"],
            owner=row["owner"],
            tenant=row["tenant"],
            job=row["job"],
            reason=row["pause_reason"],
        )

    ended_before = {(row["id"], row["fence"]) for row in before["history"]}
    for run in after["history"]:
        if (run["id"], run["fence"]) not in ended_before:
            yield of_run(f"run.{run['status']}", run, run["attempt"], run["error"])
    for run in after["runs"]:
        fence = open_before.get(run["id"], {"fence": 0})["fence"]
        if run["claimed_by"] is not None and run["fence"] > fence:
            yield of_run("run.started", run, run["attempt"], None)
    tried_before = {(row["run_id"], row["fence"]) for row in before["attempts"]}
    for tried in after["attempts"]:
        if tried["error"] is None:
            continue
        if (tried["run_id"], tried["fence"]) not in tried_before and tried["run_id"] in open_after:
            yield of_run("run.retrying", open_after[tried["run_id"]], tried["attempt"], tried["error"])
    known = {row["id"] for row in before["schedules"]}
    for id in facts.keys() - known:
        yield of_schedule("schedule.created", id)
    trail = {(row["schedule_id"], row["number"]) for row in before["changes"]}
    for change in after["changes"]:
        if (change["schedule_id"], change["number"]) not in trail:
            yield of_schedule(CHANGES[change["action"]], change["schedule_id"])
    owed_before = {row["schedule_id"] for row in before["overdue"]}
    owed_after = {row["schedule_id"] for row in after["overdue"]}
    for id in owed_after - owed_before:
        yield of_schedule("schedule.overdue", id)
    for id in owed_before - owed_after:
        if id in facts and facts[id]["deleted_at"] is None and facts[id]["paused_at"] is None:
            yield of_schedule("schedule.recovered", id)


class WatchingModel:
    """The part of the model that tells what happened."""

    _clock: Clock
    watch: dict[str, Any]
    events: list[Event]

    webhooks: dict[str, Any]

    def dump(self) -> Dump:
        raise NotImplementedError

    def _notify(self, events: list[Event]) -> None:
        raise NotImplementedError

    def __getattribute__(self, name: str) -> Any:
        value = super().__getattribute__(name)
        if name.startswith("_") or name in _SILENT or not inspect.iscoroutinefunction(value):
            return value

        async def telling(*args: Any, **words: Any) -> Any:
            watched = self.watch["until"] > self._clock.now()
            if self.watch["busy"] or not (watched or self.webhooks):
                return await value(*args, **words)
            before, self.watch["busy"] = self.dump(), True
            try:
                return await value(*args, **words)
            finally:
                self.watch["busy"] = False
                told = told_between(before, self.dump(), self._clock.now())
                self.events.extend(told if watched else [])
                self._notify(told)

        return telling

    async def watch_events(self, *, lease_ms: int) -> Watched:
        now, watch = self._clock.now(), self.watch
        if watch["until"] <= now:
            watch.update(since=now, settled=False)
        if not watch["settled"] and now - watch["since"] >= SETTLES_AFTER_MS:
            watch["settled"] = True
            self.events.append(Event(name=RESET, at=to_datetime(now), reason="began"))
        watch["until"] = max(watch["until"], now + lease_ms)
        return Watched(watch["last"], watch["gone"], watch["settled"])

    async def number_events(self, *, limit: int) -> int:
        new = [place for place, event in enumerate(self.events) if event.number is None][:limit]
        for place in new:
            self.watch["last"] += 1
            self.events[place] = replace(self.events[place], number=self.watch["last"])
        return len(new)

    async def read_events(self, *, after: int, limit: int) -> Events:
        found = [event for event in self.events if event.number is not None and event.number > after][:limit]
        waiting = any(event.number is None for event in self.events)
        return Events(found, self.watch["last"], self.watch["gone"], waiting)

    async def purge_events(self, *, keep_ms: int, most: int, limit: int) -> int:
        before, below = to_datetime(self._clock.now() - keep_ms), self.watch["last"] - most
        old = [e for e in self.events if e.at < before or (e.number is not None and e.number <= below)][:limit]
        self.watch["gone"] = max([self.watch["gone"], *(e.number for e in old if e.number is not None)])
        self.events[:] = [event for event in self.events if event not in old]
        return len(old)
