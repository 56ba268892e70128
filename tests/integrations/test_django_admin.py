"""The admin: those who may view see, those who may change act, and nobody else does either."""

from collections.abc import Callable
from typing import Any

import pytest

from duly import Every
from tests.acceptance.rules import rule
from tests.integrations.conftest import Shop

LIST, RUNS = "/admin/duly/schedule/", "/admin/duly/run/"
Login = Callable[..., Any]


@pytest.fixture
def login(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> Login:
    """A client of somebody with these permissions of duly's; users are in the same database as all the rest."""
    from django.contrib.auth.models import Permission, User
    from django.db import router
    from django.test import Client

    for method in ("db_for_read", "db_for_write"):
        monkeypatch.setattr(router, method, lambda model, **_: shop.using)

    def make(*permissions: str, staff: bool = True) -> Any:
        user = User.objects.create_user(f"user-{User.objects.count()}", is_staff=staff)
        user.user_permissions.set(Permission.objects.filter(content_type__app_label="duly", codename__in=permissions))
        client = Client()
        client.force_login(user)
        return client

    return make


@pytest.fixture
def made(shop: Shop) -> Any:
    return shop.sync.schedules.create("water", Every("1h"), job="send-receipt", payload={"order": 1}, tags=["plants"])


def test_only_those_who_may_view_see_anything(shop: Shop, made: Any, login: Login) -> None:
    pages = [LIST, f"{LIST}{made.id}/change/", RUNS]
    for client, code in ((login(staff=False), 302), (login(), 403), (login("view_schedule", "view_run"), 200)):
        assert [client.get(page).status_code for page in pages] == [code] * 3
    viewer = login("view_schedule")
    assert viewer.get(RUNS).status_code == 403
    text = viewer.get(LIST).content.decode()
    assert "water" in text
    assert "Every hour" in text
    assert "run_now" not in text
    assert [name in viewer.get("/admin/").content.decode() for name in (LIST, RUNS)] == [True, False]


@rule("Django.admin")
def test_only_those_who_may_change_act(shop: Shop, made: Any, login: Login) -> None:
    words = {"action": "pause", "_selected_action": [made.id]}
    assert login("view_schedule").post(LIST, words).status_code == 403
    assert login("view_schedule").post(f"{LIST}{made.id}/change/", {"action": "run_now"}).status_code == 403
    assert shop.sync.schedules.get("water").enabled
    assert shop.sync.runs.list().items == []
    from django.test import Client

    assert Client(enforce_csrf_checks=True).post(LIST, words).status_code in (302, 403)
    assert shop.sync.schedules.get("water").enabled


@rule("Django.admin")
def test_pause_resume_and_run_now_are_done_and_remembered(shop: Shop, made: Any, login: Login) -> None:
    from django.contrib.admin.models import LogEntry

    shop.sync.schedules.create("sun", Every("2h"), job="send-receipt", payload={"order": 1})
    client = login("change_schedule", "view_run")
    both = [one.id for one in shop.sync.schedules.list().items]
    words = {"action": "pause", "reason": "on leave", "_selected_action": both}
    answer = client.post(LIST, words, follow=True).content.decode()
    assert "2 schedules paused." in answer
    assert answer.count("paused: on leave") == 2
    assert {one.paused_reason for one in shop.sync.schedules.list().items} == {"on leave"}
    assert shop.sync.schedules.changes("water").items[0].by == "user-0"
    page = f"{LIST}{made.id}/change/"
    assert "1 schedule resumed." in client.post(page, {"action": "resume"}, follow=True).content.decode()
    assert "1 schedule started." in client.post(page, {"action": "run_now"}, follow=True).content.decode()
    (run,) = shop.sync.runs.list().items
    assert (run.schedule_key, run.kind) == ("water", "manual")
    assert run.id in client.get(page).content.decode()
    assert run.id in client.get(f"{RUNS}?schedule=water").content.decode()
    assert "send-receipt" in client.get(f"{RUNS}{run.id}/change/").content.decode()
    told = [(entry.object_repr, entry.change_message) for entry in LogEntry.objects.using(shop.using).order_by("pk")]
    assert sorted(told[:2]) == [("sun", "Paused."), ("water", "Paused.")]
    assert told[2:] == [("water", "Resumed."), ("water", "Started.")]


def test_search_filters_and_pages(shop: Shop, made: Any, login: Login, monkeypatch: pytest.MonkeyPatch) -> None:
    from duly.integrations.django import admin

    monkeypatch.setattr(admin, "PAGE", 1)
    sun = shop.sync.schedules.create("sun", Every("2h"), job="send-receipt", payload={"order": 1})
    first, second = (one.key for one in sorted((made, sun), key=lambda one: one.id))
    shop.sync.schedules.pause("sun")
    client = login("view_schedule")

    def keys(query: str) -> set[str]:
        text = client.get(f"{LIST}{query}").content.decode()
        return {key for key in ("water", "sun") if f">{key}</a>" in text}

    assert keys("") == {first}
    more = client.get(LIST).context_data["more"]
    assert keys(more) == {second}
    assert (keys("?q=plants"), keys("?status=paused"), keys("?q=zz")) == ({"water"}, {"sun"}, set())


def test_what_is_not_there_or_makes_no_sense_is_told(shop: Shop, made: Any, login: Login) -> None:
    client = login("change_schedule", "view_run")
    assert client.get(f"{LIST}nope/change/").status_code == 404
    assert client.get(f"{RUNS}nope/change/").status_code == 404
    assert "cursor" in client.get(f"{LIST}?cursor=%00nonsense").content.decode()
    assert "Choose an action" in client.post(LIST, {"action": "explode"}, follow=True).content.decode()
    words = {"action": "pause", "_selected_action": ["01a1e53f-0000-7000-8000-000000000000"]}
    assert "01a1e53f-0000" in client.post(LIST, words, follow=True).content.decode()
    assert client.get(f"{LIST}add/").status_code == 404
    assert client.get(f"{LIST}{made.id}/delete/").status_code == 404
