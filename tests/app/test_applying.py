"""Schedules applied as a whole: checked together, idempotent, and each set minds its own."""

import asyncio
import os
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from duly import Cron, Duly, Every, Once, Retry
from duly.app.applying import Applied
from duly.core.errors import ConfigurationError, Conflict, CronInvalid, DulyError, MomentInPast, ValidationFailed
from duly.testing import ManualClock
from tests.app.conftest import MakeApp
from tests.store_choice import postgres_too

NIGHTLY: dict[str, Any] = {"key": "nightly", "timing": Cron("0 2 * * *", "Europe/Berlin"), "job": "report"}
SYNC: dict[str, Any] = {"key": "sync", "timing": Every("5m"), "job": "sync", "payload": {"full": False}}


@pytest.fixture
async def app(make_app: MakeApp) -> AsyncIterator[Duly]:
    app = make_app(roles=())
    await app.open()
    yield app
    await app.close()


def outcomes(applied: list[Applied]) -> dict[str, str]:
    return {one.key: str(one.outcome) for one in applied}


async def stored(app: Duly) -> dict[str, Any]:
    return {schedule.key: schedule async for schedule in app.schedules.iterate()}


async def test_the_second_time_changes_nothing(app: Duly) -> None:
    wanted = [{**NIGHTLY, "retry": Retry(5), "tags": ["a"]}, SYNC, {**SYNC, "key": "from-start",
              "timing": Every("1h", anchor="start")}]  # fmt: skip
    first = await app.schedules.apply(wanted, set="shop")
    assert [(one.key, one.outcome) for one in first] == [
        ("nightly", "created"), ("sync", "created"), ("from-start", "created")
    ]  # fmt: skip
    before = await stored(app)
    assert list(before) == ["nightly", "sync", "from-start"], "lists show them in the order given"
    again = await app.schedules.apply(wanted, set="shop", prune="pause")
    assert set(outcomes(again).values()) == {"unchanged"}
    after = await stored(app)
    assert after == before
    assert {schedule.revision for schedule in after.values()} == {1}


@postgres_too("two who apply at once")
async def test_many_are_written_in_order_and_two_who_apply_at_once_agree(make_app: MakeApp) -> None:
    apps = [make_app(roles=()) for _ in range(2)]
    for app in apps:
        await app.open()
    try:
        wanted = [{**SYNC, "key": f"k{number:04}"} for number in range(700)]
        await apps[0].schedules.apply(wanted[300:301])
        told = await asyncio.gather(*(app.schedules.apply(wanted, set="shop") for app in apps))
        assert [[one.key for one in one_side] for one_side in told] == [[one["key"] for one in wanted]] * 2
        created = [outcomes(one_side) for one_side in told]
        assert all([side[f"k{n:04}"] for side in created].count("created") == 1 for n in range(700) if n != 300)
        found = await stored(apps[0])
        assert {schedule.facts.app for schedule in found.values()} == {"set:shop"}
    finally:
        for app in apps:
            await app.close()


async def test_what_is_absent_goes_back_to_its_default(app: Duly) -> None:
    await app.schedules.apply([{**NIGHTLY, "tags": ["a"], "overlap": "queue", "description": "long"}])
    (changed,) = await app.schedules.apply([NIGHTLY])
    assert changed.outcome == "changed"
    assert changed.after is not None
    assert (changed.after.tags, changed.after.overlap, changed.after.description) == ((), "skip", None)
    assert changed.after.revision == 2


async def test_a_dry_run_foretells_and_changes_nothing(app: Duly) -> None:
    await app.schedules.apply([NIGHTLY, SYNC], set="shop")
    before = await stored(app)
    wanted = [{**NIGHTLY, "timing": Cron("0 3 * * *")}, {**SYNC, "key": "new"}]
    told = await app.schedules.apply(wanted, set="shop", prune="pause", dry_run=True)
    assert outcomes(told) == {"nightly": "changed", "new": "created", "sync": "orphaned"}
    assert await stored(app) == before
    assert outcomes(await app.schedules.apply(wanted, set="shop", prune="pause")) == outcomes(told)
    for one in told:
        now = await app.schedules.get(one.key)
        assert now is not None
        assert one.after is not None
        assert one.after.definition == now.definition


async def test_everything_wrong_is_told_together_and_nothing_is_written(app: Duly) -> None:
    wanted = [
        NIGHTLY,
        {**SYNC, "overlap": "sometimes"},
        {"key": "late", "timing": Once("2001-01-01T00:00:00Z"), "job": "j"},
        {"timing": Every("1h"), "job": "j"},
        {**NIGHTLY, "tags": ["twice"]},
    ]
    with pytest.raises(ValidationFailed) as refused:
        await app.schedules.apply(wanted)
    told = dict(refused.value.details["refusals"])
    assert sorted(told) == [1, 2, 3, 4]
    assert isinstance(told[2], MomentInPast)
    assert "given twice" in told[4].message
    assert "and 1 more" in refused.value.message
    assert await stored(app) == {}


async def test_one_kind_of_mistake_is_raised_as_that_kind(app: Duly) -> None:
    late = {"timing": Once("2001-01-01T00:00:00Z"), "job": "j"}
    with pytest.raises(MomentInPast):
        await app.schedules.apply([{**late, "key": "a"}, {**late, "key": "b"}])


async def test_the_pause_of_a_person_stays_and_that_of_the_set_goes(app: Duly) -> None:
    await app.schedules.apply([NIGHTLY, {**SYNC, "enabled": False}])
    await app.schedules.pause("nightly", reason="on leave")
    assert set(outcomes(await app.schedules.apply([NIGHTLY, {**SYNC, "enabled": False}])).values()) == {"unchanged"}
    assert outcomes(await app.schedules.apply([NIGHTLY, SYNC])) == {"nightly": "unchanged", "sync": "changed"}
    found = await stored(app)
    assert (found["nightly"].enabled, found["nightly"].paused_reason) == (False, "on leave")
    assert found["sync"].enabled
    assert found["sync"].revision == 1
    (resumed,) = await app.schedules.apply([{**NIGHTLY, "enabled": True}])
    assert resumed.after is not None
    assert resumed.after.enabled, "said in so many words, it is meant"


async def test_what_is_no_longer_in_the_set_is_paused_and_nobodys(app: Duly) -> None:
    await app.schedules.apply([NIGHTLY, SYNC], set="shop")
    assert outcomes(await app.schedules.apply([NIGHTLY], set="shop")) == {"nightly": "unchanged"}, "without prune"
    (_, gone) = await app.schedules.apply([NIGHTLY], set="shop", prune="pause")
    assert (gone.key, gone.outcome) == ("sync", "orphaned")
    orphan = (await stored(app))["sync"]
    assert (orphan.enabled, orphan.paused_reason) == (False, "orphan: no longer in set 'shop'")
    assert outcomes(await app.schedules.apply([NIGHTLY], set="shop", prune="pause")) == {"nightly": "unchanged"}
    await app.schedules.resume("sync")
    await app.schedules.apply([NIGHTLY], set="shop", prune="delete")
    assert (await stored(app))["sync"].enabled, "a person wanted it"


async def test_what_comes_back_to_a_set_is_resumed_and_catches_up(tmp_path: Path) -> None:
    clock = ManualClock(datetime(2027, 1, 1, 0, 30, tzinfo=UTC))
    app = Duly(f"sqlite:////{tmp_path}/duly.db", roles=(), clock=clock)
    await app.open()
    try:
        hourly = {"key": "hourly", "timing": Cron("0 * * * *"), "job": "j"}
        await app.schedules.apply([hourly], set="shop")
        await app.schedules.apply([], set="shop", prune="pause")
        await clock.advance(hours=3)
        (back,) = await app.schedules.apply([hourly], set="other")
        assert back.outcome == "changed"
        assert back.after is not None
        assert back.after.enabled
        assert back.after.next_window_at == datetime(2027, 1, 1, 1, 0, tzinfo=UTC), "its catch-up policy decides"
    finally:
        await app.close()


async def test_prune_deletes_only_where_that_was_asked_for(app: Duly) -> None:
    await app.schedules.apply([NIGHTLY, SYNC], set="shop")
    applied = await app.schedules.apply([SYNC], set="shop", prune="delete")
    assert outcomes(applied) == {"sync": "unchanged", "nightly": "deleted"}
    assert list(await stored(app)) == ["sync"]


async def test_what_is_to_be_kept_is_named_by_id_or_key_and_in_a_list(app: Duly) -> None:
    await app.schedules.apply([NIGHTLY, SYNC], set="shop")
    before = await stored(app)
    named = [before["nightly"].id, "sync"]
    assert await app.schedules.apply([], set="shop", prune="delete", keep=named) == []
    for wrong in ("sync", 5, [5], [None]):
        with pytest.raises(ValidationFailed, match=r"expected (a list of ids and keys|the id or key)"):
            await app.schedules.apply([{**SYNC, "tags": ["x"]}], set="shop", prune="delete", keep=wrong)  # type: ignore[arg-type]
    assert await stored(app) == before


async def test_sets_and_apps_on_one_database_never_touch_each_others(make_app: MakeApp) -> None:
    declaring = make_app(roles=(), name="web")
    declaring.job("coded", cron="0 4 * * *")(lambda: None)
    async with declaring:
        await declaring.schedules.apply([NIGHTLY], set="shop")
        await declaring.schedules.apply([SYNC], set="mail")
        before = await stored(declaring)
        applied = await declaring.schedules.apply([], set="shop", prune="delete", keep=[before["nightly"].id])
        assert applied == []
        taken: list[tuple[dict[str, Any], str | None, str]] = [
            (SYNC, "shop", "belongs to set 'mail'"),
            (SYNC, None, "belongs to set 'mail'"),
            ({**NIGHTLY, "key": "coded"}, "shop", "declared by app 'web'"),
            ({**NIGHTLY, "key": "coded"}, None, "declared by app 'web'"),
        ]
        for entry, name, told in taken:
            with pytest.raises(Conflict, match=told):
                await declaring.schedules.apply([entry], set=name)
        assert await stored(declaring) == before
    async with make_app(roles=("scheduler",), name="web") as restarted:
        found = await stored(restarted)
        assert [key for key, schedule in found.items() if not schedule.enabled] == ["coded"]


async def test_an_orphan_of_a_set_may_move_to_the_code(make_app: MakeApp) -> None:
    async with make_app(roles=()) as app:
        await app.schedules.apply([NIGHTLY], set="shop")
        await app.schedules.apply([], set="shop", prune="pause")
    async with make_app(roles=(), schedules=[NIGHTLY]) as app:
        assert (await stored(app))["nightly"].enabled


async def test_one_that_has_ended_makes_room_when_it_is_changed(app: Duly) -> None:
    first = await app.schedules.apply([{**NIGHTLY, "timing": Once("2099-01-01T00:00:00Z")}], set="shop")
    await app.schedules.cancel("nightly")
    again = await app.schedules.apply([{**NIGHTLY, "timing": Once("2099-01-01T00:00:00Z")}], set="shop")
    assert outcomes(again) == {"nightly": "unchanged"}, "what a person ended stays ended"
    new = await app.schedules.apply([{**NIGHTLY, "timing": Once("2099-02-01T00:00:00Z")}], set="shop")
    assert outcomes(new) == {"nightly": "created"}
    assert first[0].after is not None
    assert new[0].after is not None
    assert new[0].after.replaces == first[0].after.id


async def test_misuse_is_told(app: Duly, make_app: MakeApp) -> None:
    mistakes: list[dict[str, Any]] = [
        {"schedules": [NIGHTLY], "prune": "pause"},
        {"schedules": [NIGHTLY], "set": "shop", "prune": "forget"},
        {"schedules": [NIGHTLY], "set": "no spaces"},
        {"schedules": [{**NIGHTLY, "cron": "0 2 * * *"}]},
        {"schedules": ["nightly"]},
    ]
    for mistake in mistakes:
        with pytest.raises(DulyError):
            await app.schedules.apply(mistake.pop("schedules"), **mistake)
    with pytest.raises(ConfigurationError, match="set:"):
        make_app(name="set:shop")


async def test_a_schedule_can_be_checked_without_a_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    app = Duly("sqlite:///none.db")
    await app.schedules.check(**NIGHTLY)
    with pytest.raises(MomentInPast):
        await app.schedules.check("k", Once("2001-01-01T00:00:00Z"), job="j")
    with pytest.raises(CronInvalid):
        await app.schedules.check("k", Cron("99 * * * *"), job="j")
    assert os.listdir(tmp_path) == []


def test_it_has_a_twin_that_needs_no_event_loop(make_app: MakeApp) -> None:
    with make_app(roles=()).sync as app:
        assert outcomes(app.schedules.apply([NIGHTLY], set="shop")) == {"nightly": "created"}
        assert outcomes(app.schedules.apply([NIGHTLY], set="shop")) == {"nightly": "unchanged"}
