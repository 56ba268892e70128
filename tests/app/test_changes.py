"""``app.schedules.changes``: who changed what, as people ask for it."""

import pytest

from duly import Cron, Duly, Every
from duly.core.errors import NotFound, ValidationFailed
from tests.app.conftest import MakeApp


@pytest.fixture
async def app(make_app: MakeApp):
    """An app that neither fires nor works."""
    async with make_app(roles=()) as app:
        yield app


async def test_every_change_says_who_made_it(app: Duly) -> None:
    made = await app.schedules.create("tax", Cron("0 2 * * *"), job="work", by="ann")
    await app.schedules.update("tax", timing=Cron("0 3 * * *"), name="Tax", by="bob")
    await app.schedules.pause("tax", reason="on leave", by="cid")
    await app.schedules.resume("tax", by="dan")
    await app.schedules.cancel("tax", by="eve")
    await app.schedules.delete("tax", by="fay")
    page = await app.schedules.changes(made.id)
    assert [(change.action, change.by) for change in page.items] == [
        ("delete", "fay"), ("cancel", "eve"), ("resume", "dan"), ("pause", "cid"), ("edit", "bob"), ("create", "ann"),
    ]  # fmt: skip
    edit = page.items[4]
    assert {change.field: (change.old, change.new) for change in edit.fields} == {
        "cron_expression": ("0 2 * * *", "0 3 * * *"),
        "name": ("tax", "Tax"),
    }
    assert (await app.schedules.changes("tax")).items == page.items


async def test_a_put_that_changes_nothing_leaves_no_trace(app: Duly) -> None:
    await app.schedules.put("k", Every("30m"), "work", by="ann")
    await app.schedules.put("k", Every("30m"), "work", by="ann")
    assert len((await app.schedules.changes("k")).items) == 1
    await app.schedules.put("k", Every("20m"), "work", by="bob")
    newest, _ = (await app.schedules.changes("k")).items
    assert (newest.action, newest.by, newest.revision) == ("edit", "bob", 2)


async def test_pages_follow_one_another(app: Duly) -> None:
    await app.schedules.create("k", Every("30m"), job="work")
    for priority in (1, 2):
        await app.schedules.update("k", priority=priority)
    first = await app.schedules.changes("k", limit=2)
    assert [change.number for change in first.items] == [2, 1]
    last = await app.schedules.changes("k", limit=2, cursor=first.next_cursor)
    assert ([change.number for change in last.items], last.next_cursor) == ([0], None)


async def test_of_what_is_unknown_there_is_no_trail(app: Duly) -> None:
    with pytest.raises(NotFound):
        await app.schedules.changes("nothing")
    await app.schedules.create("k", Every("30m"), job="work")
    with pytest.raises(ValidationFailed, match="next_cursor"):
        await app.schedules.changes("k", cursor="soon")
