"""Targets that are not everybody's: refused as if they were not there, when a schedule is made and when it fires."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from duly import Duly, RunStatus
from duly.app.owning import Owning
from duly.core.credential import Whose
from duly.core.errors import ConfigurationError, ValidationFailed
from duly.core.outside import EVERYBODYS, Grant
from tests.targets.conftest import SELDOM
from tests.targets.memory import Memory

MAIL, FAX = ({"kind": "queue", "name": name} for name in ("mail", "fax"))


def made(tmp_path: Path, mail: Memory, **grant: Any) -> Duly:
    targets: dict[str, Any] = {"mail": {"url": mail.make(), **grant}, "fax": Memory().make()}
    return Duly(f"sqlite:////{str(tmp_path / 'duly.db').lstrip('/')}", targets=targets)


def of(app: Duly, owner: str, tenant: str = "") -> Duly:
    return app.acting_for(Owning(Whose(tenant, owner)))


@pytest.mark.parametrize(
    "grant, tenant, owner, covers",
    [
        (EVERYBODYS, "", None, True),
        (EVERYBODYS, "acme", "ann", True),
        (Grant(frozenset({"ann"})), "", "ann", True),
        (Grant(frozenset({"ann"})), "acme", "bob", False),
        (Grant(frozenset({"ann"})), "acme", None, False),
        (Grant(frozenset({"ann"})), "", None, True),
        (Grant(frozenset({"ann"}), frozenset({"acme"})), "acme", "bob", True),
        (Grant(tenants=frozenset({"acme"})), "", "ann", False),
        (Grant(tenants=frozenset({"acme"})), None, "", False),
    ],
)
def test_a_grant_names_owners_or_tenants(grant: Grant, tenant: str | None, owner: str | None, covers: bool) -> None:
    assert grant.covers(tenant, owner) is covers


async def test_a_foreign_target_is_refused_in_the_words_of_one_that_is_not_there(tmp_path: Path) -> None:
    async with made(tmp_path, Memory(), owners=["ann"]) as app:
        told = []
        for name in ("mail", "none"):
            with pytest.raises(ValidationFailed) as refused:
                await of(app, "bob").schedules.create("k", SELDOM, target={"kind": "queue", "name": name})
            told.append(str(refused.value).replace(name, "NAME"))
        assert told[0] == told[1]
        assert "expected one of fax:" in told[0]
        assert await app.schedules.get("k") is None
        await of(app, "bob").schedules.create("k", SELDOM, target=FAX)
        with pytest.raises(ValidationFailed, match="no such target"):
            await of(app, "bob").schedules.update("k", target=MAIL)
        await of(app, "ann").schedules.create("mine", SELDOM, target=MAIL)
        with pytest.raises(ValidationFailed, match="no such target"):
            await app.schedules.update("mine", metadata={"owner_id": "bob"})
        assert (await app.schedules.update("mine", metadata={"owner_id": "ann"})).metadata["owner_id"] == "ann"


async def test_the_queue_of_a_foreign_target_is_not_there(tmp_path: Path) -> None:
    async with made(tmp_path, Memory(), owners=["ann"]) as app:
        for name in ("target:mail", "target:fax"):
            await app.queues.pause(name, "a fire")
        for who, seen in ((app, 2), (of(app, "ann"), 2), (of(app, "bob"), 1)):
            assert [queue.name for queue in await who.queues.list()] == ["target:fax", "target:mail"][:seen]
        hidden, unknown = [await of(app, "bob").queues.get(name) for name in ("target:mail", "target:none")]
        assert replace(hidden.state, name="") == replace(unknown.state, name="")


async def test_among_many_each_owner_is_asked_about_though_their_options_are_the_same(tmp_path: Path) -> None:
    async with made(tmp_path, Memory(), owners=["ann"]) as app:
        wanted = [{"timing": SELDOM, "target": MAIL, "metadata": {"owner_id": who}} for who in ("ann", "bob")]
        with pytest.raises(ValidationFailed, match="no such target") as refused:
            await app.schedules.create_many(wanted)
        assert refused.value.details["item"] == 1
        assert not (await app.schedules.list()).items


async def test_a_run_of_whom_the_target_is_not_any_more_fails_and_is_not_sent(tmp_path: Path) -> None:
    mail = Memory()
    async with made(tmp_path, mail) as app:
        for key, owner in (("a", "ann"), ("b", "bob")):
            await of(app, owner).schedules.create(key, SELDOM, target={**MAIL, "format": "raw"})
    async with made(tmp_path, mail, owners=["ann"]) as app:
        runs = [await app.runs.wait((await app.schedules.trigger(key)).id, timeout=30) for key in ("a", "b")]
    assert [run.status for run in runs] == [RunStatus.COMPLETED, RunStatus.FAILED]
    assert runs[1].error_message == "mail refused it: there is no such target for its owner"
    assert [message.id for message in mail.messages] == [runs[0].id]


@pytest.mark.parametrize(
    "given", [{}, {"url": "redis://x", "colour": 1}, {"url": "redis://x", "owners": "ann"}, {"url": 7}]
)
def test_what_cannot_be_meant_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match="'mail'"):
        Duly("sqlite:///never.db", targets={"mail": given})
