"""What is tried again, and what is not: a script in place of the network, which fails as told."""

import json
import sys
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from duly.client import AsyncClient, Client
from duly.core import errors

BODY = {"key": "k", "everyMs": 60_000, "jobType": "j"}
OK = httpx2.Response(200, json={"items": [], "nextCursor": None})
Step = httpx2.Response | Exception


def problem(status: int, code: str, **more: Any) -> httpx2.Response:
    headers = {"content-type": "application/problem+json", **more.pop("headers", {})}
    return httpx2.Response(status, json={"code": code, "detail": "told", "status": status, **more}, headers=headers)


NOT_DONE = problem(503, "STORE_UNAVAILABLE")
UNKNOWN = problem(503, "OUTCOME_UNKNOWN")
REFUSED = httpx2.ConnectError("refused")
BROKEN = httpx2.RemoteProtocolError("the server hung up")
SLOW = httpx2.ReadTimeout("no answer")


class Script:
    """Plays the steps one after another; ``asked`` and ``waits`` are what the client did."""

    def __init__(self, *steps: Step) -> None:
        self._steps = list(steps)
        self.asked: list[httpx2.Request] = []
        self.waits: list[float] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(request)
        step = self._steps.pop(0)
        if isinstance(step, Exception):
            raise step
        return httpx2.Response(step.status_code, headers=step.headers, content=step.content)  # each is read once

    def client(self, **options: Any) -> Client:
        return Client(
            "http://duly.test", transport=httpx2.MockTransport(self), pause=self.waits.append, **options
        )  # fmt: skip


def create(client: Client) -> Any:
    return client.schedules.create(BODY)


def look(client: Client) -> Any:
    return client.schedules.list()


def pause(client: Client) -> Any:
    return client.schedules.pause("k")


def guarded(client: Client) -> Any:
    return client.schedules.update("k", {"tags": []}, if_revision=1)


def trigger(client: Client) -> Any:
    return client.schedules.trigger("k")


@pytest.mark.parametrize("call", [create, look, pause, guarded, trigger])
@pytest.mark.parametrize("failure", [REFUSED, NOT_DONE, problem(429, "TOO_MANY")], ids=["refused", "not done", "429"])
def test_what_was_surely_not_done_is_tried_again(call: Callable[[Client], Any], failure: Step) -> None:
    script = Script(failure, failure, OK)
    assert call(script.client()) == {"items": [], "nextCursor": None}
    assert len(script.asked) == 3


@pytest.mark.parametrize("failure", [BROKEN, SLOW, UNKNOWN], ids=["broken", "slow", "unknown"])
def test_what_may_have_been_done_is_repeated_only_where_twice_is_once(failure: Step) -> None:
    for repeatable in (look, pause, create, trigger):
        script = Script(failure, OK)
        repeatable(script.client())
        assert len(script.asked) == 2
    for once in (guarded,):
        script = Script(failure, OK)
        with pytest.raises((errors.ServerUnreachable, errors.OutcomeUnknown)) as raised:
            once(script.client())
        assert len(script.asked) == 1
        assert isinstance(failure, httpx2.Response) or "look before trying again" in raised.value.message


def test_what_must_not_be_done_twice_is_sent_again_under_its_own_name() -> None:
    script = Script(BROKEN, problem(409, "IDEMPOTENCY_KEY_IN_USE"), OK)
    client = script.client()
    create(client)
    names = {request.headers["Idempotency-Key"] for request in script.asked}
    assert (len(script.asked), len(names)) == (3, 1)
    more = Script(OK, OK)
    other = more.client()
    create(other)
    create(other)
    assert len({request.headers["Idempotency-Key"] for request in more.asked}) == 2, "another request, another name"


def test_the_last_failure_is_raised() -> None:
    script = Script(REFUSED, REFUSED, REFUSED)
    with pytest.raises(errors.ServerUnreachable, match=r"no answer from http://duly.test: refused"):
        look(script.client())
    assert script.waits == [0.2, 0.4]
    only = Script(REFUSED)
    with pytest.raises(errors.ServerUnreachable):
        look(only.client(tries=1))


def test_the_server_says_how_long_to_wait() -> None:
    script = Script(problem(503, "STORE_UNAVAILABLE", headers={"Retry-After": "7"}), OK)
    look(script.client())
    assert script.waits == [7]
    patient = Script(problem(503, "STORE_UNAVAILABLE", headers={"Retry-After": "3600"}), OK)
    with pytest.raises(errors.StoreUnavailable):
        look(patient.client())
    assert patient.waits == []


def test_a_refusal_is_no_failure() -> None:
    script = Script(problem(422, "SCHEDULE_CRON_INVALID", errors=[]), OK)
    with pytest.raises(errors.CronInvalid, match="told"):
        create(script.client())
    assert len(script.asked) == 1


@pytest.mark.parametrize(
    "reply, kind, told",
    [
        (problem(401, "UNAUTHENTICATED"), errors.NotAuthorised, "told"),
        (httpx2.Response(403, text="no"), errors.NotAuthorised, "answered 403"),
        (problem(422, "A_CODE_OF_TOMORROW"), errors.ValidationFailed, "told"),
        (problem(409, "A_CODE_OF_TOMORROW"), errors.Conflict, "told"),
        (problem(500, "INTERNAL_ERROR"), errors.ServerError, "told"),
        (httpx2.Response(404, text="<html>"), errors.ServerError, "is the URL right?"),
        (httpx2.Response(200, text="<html>"), errors.ServerError, "is the URL right?"),
        (httpx2.Response(301, headers={"location": "https://x/"}), errors.ServerError, "points to https://x/"),
        (httpx2.Response(502, text="bad gateway"), errors.ServerUnreachable, "answered 502"),
    ],
)
def test_every_strange_answer_is_an_error_of_ours(
    reply: httpx2.Response, kind: type[errors.DulyError], told: str
) -> None:
    with pytest.raises(errors.DulyError, match=told.replace("?", r"\?")) as raised:
        create(Script(reply).client())
    assert type(raised.value) is kind


def test_an_unknown_code_is_kept() -> None:
    with pytest.raises(errors.ValidationFailed) as raised:
        create(Script(problem(422, "A_CODE_OF_TOMORROW", retryAfterSeconds=3)).client())
    assert raised.value.code == "A_CODE_OF_TOMORROW"
    assert raised.value.details == {"retry_after_seconds": 3}


def test_what_is_sent() -> None:
    script = Script(OK, OK)
    client = script.client(key="duly_live_x")
    client.schedules.update("a/b", {"tags": ["x"]}, if_revision=3)
    client.schedules.list(enabled=True, tag=None)
    patch, get = script.asked
    assert patch.url.raw_path == b"/api/v1/schedules/a%2Fb"
    assert json.loads(patch.content) == {"tags": ["x"]}
    assert patch.headers["if-match"] == '"3"'
    assert patch.headers["authorization"] == "Bearer duly_live_x"
    assert str(get.url) == "http://duly.test/api/v1/schedules?enabled=true&limit=50"


@pytest.mark.parametrize("url", ["http://h/api/v1", "http://h/", "http://h"])
def test_the_root_of_a_server_is_found(url: str) -> None:
    script = Script(OK)
    with Client(url, transport=httpx2.MockTransport(script)) as client:
        look(client)
    assert script.asked[0].url.path == "/api/v1/schedules"


def test_a_server_below_a_path_is_reached_there() -> None:
    script = Script(OK)
    with Client("https://me:hush@h/scheduler/", transport=httpx2.MockTransport(script)) as client:
        look(client)
        assert client.place == "https://h/scheduler"
    assert script.asked[0].url.path == "/scheduler/api/v1/schedules"


@pytest.mark.parametrize("url", ["127.0.0.1:8080", "ftp://h", "http://", ""])
def test_what_is_no_url_of_a_server_is_refused(url: str) -> None:
    with pytest.raises(errors.ConfigurationError, match=r"http://127.0.0.1:8080"):
        Client(url)


def test_a_missing_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(errors.ConfigurationError, match=r"pip install 'duly\[client\]'"):
        Client("http://h")
    with pytest.raises(errors.ConfigurationError, match=r"pip install 'duly\[client\]'"):
        AsyncClient("http://h")


async def test_the_async_client_tries_again_too() -> None:
    script = Script(NOT_DONE, OK)
    async with AsyncClient("http://h", transport=httpx2.MockTransport(script)) as client:
        await client.schedules.list()
    assert len(script.asked) == 2


def test_once_its_patience_is_over_a_client_does_not_try_again() -> None:
    hasty, patient = Script(SLOW, OK), Script(SLOW, OK)
    with pytest.raises(errors.ServerUnreachable):
        look(hasty.client(patience=0))
    look(patient.client(patience=3600))
    assert (len(hasty.asked), len(patient.asked)) == (1, 2)
