"""The app on its store and the clients of a server share one surface: the same nouns, methods and parameters."""

import inspect
from typing import Any, get_type_hints

import pytest

from duly import Duly
from duly.client import AsyncClient, Client
from tests.counting import at_least

NOUNS = ("schedules", "runs", "queues", "calendars", "operations", "firing", "webhooks")

# What an app has and a client has not, and why.
METHODS = {
    "schedules.create_many": "no route makes many in one transaction; apply makes many",
    "schedules.check": "the server checks what it is sent; a dry run of apply does without storing",
    "schedules.plan": "a plan is begun by the process that made it",
    "schedules.begin_purge": "the server purges: delete(purge=True)",
    "schedules.forecast": "a figure of the dashboard, which no route answers",
    "schedules.lags": "a figure of the dashboard, which no route answers",
    "schedules.minutes": "a figure of the dashboard, which no route answers",
    "schedules.outcomes": "a figure of the dashboard, which no route answers",
    "runs.enqueue_many": "no route makes many in one transaction",
    "runs.attempts": "a run that is looked at by itself has its attempts",
    "operations.begin": "the server begins: pause_many and its like",
    "operations.drive": "the server drives; wait looks until it has finished",
    "firing.begin_resume": "the server drives what resume begins",
}
PARAMETERS = {
    "connection": "a transaction of the caller's own cannot reach a server",
    "by": "the server knows who calls",
    "id": "a client names its requests itself (Idempotency-Key)",
    "on_progress": "the server does the work; operations.wait shows how far it is",
}
OF_METHODS = {
    "runs.enqueue": {
        "timeout": "a route of REST does not take it: the job's own holds",
        "tenant": "it is the caller's",
    },
    "runs.acknowledge": {"ref": "the route takes ids"},
}
# What a client may say besides: a body as REST takes it instead of words.
BODIES = {"body"}


def parameters(method: Any) -> set[str]:
    """The names that a method takes; those of ``**words`` as their type says."""
    found: set[str] = set()
    for name, parameter in inspect.signature(method).parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            hint = get_type_hints(method).get(name)
            for words in getattr(hint, "__args__", ()):
                found |= set(words.__annotations__)
        else:
            found.add(name)
    return found - {"self"}


def methods(noun: Any) -> dict[str, Any]:
    return {
        name: method
        for name, method in inspect.getmembers(noun, callable)
        if not name.startswith("_") and name not in ("ended", "request")
    }


def pairs() -> list[tuple[str, Any, Any]]:
    app, client = Duly("sqlite:///never-opened.db"), Client("http://duly.test")
    found = []
    for noun in NOUNS:
        ours, theirs = methods(getattr(app, noun)), methods(getattr(client, noun))
        found += [(f"{noun}.{name}", method, theirs.get(name)) for name, method in ours.items()]
    kept = [pair for pair in found if not inspect.isclass(pair[1]) and pair[0] != "schedules.operations"]
    return at_least(kept, 75, "methods")


@pytest.mark.parametrize("name, ours, theirs", pairs(), ids=lambda value: value if isinstance(value, str) else "")
def test_a_client_can_do_what_an_app_can(name: str, ours: Any, theirs: Any) -> None:
    if name in METHODS:
        assert theirs is None, f"{name} is there by now: take it off the list"
        return
    assert theirs is not None, f"a client has no {name}; give it one, or say why not"
    if name.endswith(".iterate"):
        return  # its words are those of list
    missing = parameters(ours) - parameters(theirs) - PARAMETERS.keys() - OF_METHODS.get(name, {}).keys()
    assert missing == set(), f"{name} of a client does not take {missing}"


def test_both_clients_have_the_same() -> None:
    sync = Client("http://duly.test")
    nouns = {name for name in vars(sync) if not name.startswith("_")}
    assert nouns == {name for name in vars(AsyncClient("http://duly.test")) if not name.startswith("_")}
    assert {*NOUNS, "server"} <= nouns
    public = {name for name in dir(Client) if not name.startswith("_")} - {"close"}
    assert public == {name for name in dir(AsyncClient) if not name.startswith("_")} - {"aclose"}
