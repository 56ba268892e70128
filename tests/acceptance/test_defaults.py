"""Defaults that the sources disagree about: which one holds, and the setting that gives the other."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta

import httpx2
import pytest

from duly import CatchUp, Duly, Every, Settings
from duly.api.application import application
from duly.core.errors import ValidationFailed
from tests.acceptance.rules import rule

Opened = Callable[[Settings], AbstractAsyncContextManager[Duly]]
UUID7 = "01890a5d-ac96-774b-bcce-b302099a8057"


@pytest.fixture
def opened(url: str) -> Opened:
    """An app with these settings, open and not started."""

    @asynccontextmanager
    async def open(settings: Settings) -> AsyncIterator[Duly]:
        app = Duly(url, settings=settings)
        await app.open()
        try:
            yield app
        finally:
            await app.close()

    return open


def rest(app: Duly) -> httpx2.AsyncClient:
    transport = httpx2.ASGITransport(app=application(app))
    return httpx2.AsyncClient(transport=transport, base_url="http://localhost/api/v1")


@rule("S1.21")
async def test_missed_windows_fire_once_by_default_and_a_setting_gives_s1_s_skip(opened: Opened) -> None:
    async with opened(Settings()) as app:
        assert (await app.schedules.create("ours", Every("1h"), job="work")).catch_up.policy == "latest"
    async with opened(Settings(catchup_default="skip")) as app:
        made = await app.schedules.create("theirs", Every("1h"), job="work")
        assert made.catch_up == CatchUp("skip")
        named = await app.schedules.create("named", Every("1h"), job="work", catch_up="all")
        assert named.catch_up.policy == "all", "a schedule's own word wins"
        back = await app.schedules.update("named", catch_up=None)  # type: ignore[arg-type]
        assert back.catch_up.policy == "skip"
        assert (await app.schedules.put("put", Every("1h"), "work")).schedule.catch_up.policy == "skip"
        async with rest(app) as client:
            body = {"name": "x", "everyMs": 60_000, "jobType": "work"}
            answers = [
                await client.post("/schedules", json=body | extra)
                for extra in ({}, {"catchUp": None}, {"catchUp": {"maxRuns": 5}})
            ]
        assert [answer.json()["catchUp"]["policy"] for answer in answers] == ["skip"] * 3
        ours = await app.schedules.get("ours")
        assert ours is not None
        assert ours.catch_up.policy == "latest", "what is stored stays"


@rule("S3.54")
async def test_the_age_limit_of_missed_windows_is_none_unless_a_setting_or_the_schedule_sets_one(
    opened: Opened,
) -> None:
    async with opened(Settings()) as app:
        assert (await app.schedules.create("none", Every("1h"), job="work")).catch_up.max_lateness is None
    async with opened(Settings(catchup_max_lateness=86_400.0)) as app:
        day, hour = timedelta(hours=24), timedelta(hours=1)
        assert (await app.schedules.create("default", Every("1h"), job="work")).catch_up == CatchUp("latest", day)
        named = await app.schedules.create("named", Every("1h"), job="work", catch_up="all")
        assert named.catch_up == CatchUp("all", day), "a policy by name leaves the limit to the setting"
        (bulk,) = await app.schedules.create_many([{"timing": Every("1h"), "job": "work", "catch_up": "all"}])
        assert bulk.catch_up == CatchUp("all", day)
        own = await app.schedules.create("own", Every("1h"), job="work", catch_up=CatchUp("all", hour))
        assert own.catch_up.max_lateness == hour
        async with rest(app) as client:
            body = {"name": "x", "everyMs": 60_000, "jobType": "work"}
            limits = [
                (await client.post("/schedules", json=body | {"catchUp": given})).json()["catchUp"][
                    "maxLatenessSeconds"
                ]
                for given in ({"policy": "all"}, {"maxLatenessSeconds": 60}, {"maxLatenessSeconds": None})
            ]
            assert limits == [86_400, 60, None]
            patched = await client.patch("/schedules/own", json={"catchUp": {"maxLatenessSeconds": None}})
            assert patched.json()["catchUp"] == {"policy": "all", "maxLatenessSeconds": None, "maxRuns": 100}


@rule("S3.59")
async def test_a_thousand_windows_wait_by_default_under_overlap_queue(opened: Opened) -> None:
    async with opened(Settings()) as app:
        made = await app.schedules.create("line", Every("1m"), job="work", overlap="queue")
        assert made.definition.max_queued == 1000
        async with rest(app) as client:
            answer = await client.post("/schedules", json={"name": "x", "everyMs": 60_000, "jobType": "work"})
        assert answer.json()["maxQueued"] == 1000


@rule("S2.30")
async def test_ids_of_the_metadata_are_any_text_unless_strict_ids_asks_for_uuid7(opened: Opened) -> None:
    names = ("owner_id", "tenant_id", "correlation_id", "client_request_id")
    async with opened(Settings()) as app:
        await app.schedules.create("free", Every("1h"), job="work", metadata=dict.fromkeys(names, "any text"))
    async with opened(Settings(strict_ids=True)) as app:
        for name in names:
            for wrong in ("u42", UUID7.upper(), UUID7.replace("-774b", "-474b")):
                with pytest.raises(ValidationFailed, match="version 7") as refused:
                    await app.schedules.create("strict", Every("1h"), job="work", metadata={name: wrong})
                assert refused.value.field == f"metadata.{name}"
        assert await app.schedules.get("strict") is None
        made = await app.schedules.create("strict", Every("1h"), job="work", metadata=dict.fromkeys(names, UUID7))
        assert set(made.metadata.values()) == {UUID7}
        with pytest.raises(ValidationFailed, match="version 7"):
            await app.schedules.update("strict", metadata={"owner_id": "u42"})
        async with rest(app) as client:
            body = {"name": "x", "everyMs": 60_000, "jobType": "work", "metadata": {"ownerId": "u42"}}
            answer = await client.post("/schedules", json=body)
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/metadata/ownerId")
