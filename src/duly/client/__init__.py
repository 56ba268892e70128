"""A client for the REST API of ``duly serve``: ``Client`` for plain code, ``AsyncClient`` for asyncio.

    with Client("http://127.0.0.1:8080", key="duly_live_…") as client:
        client.schedules.create("tax", Once("2027-03-15T14:00:00Z"), job="send-reminder", payload={"user": 42})
        for run in client.runs.iterate(status="failed"):
            print(run["id"], run["errorMessage"])

They have the nouns, methods and words of an app (``app.schedules``, ``app.runs``, ...); a schedule may also be given as
the body that REST takes. Answers are the dictionaries of the API, as they are. Problems are raised as the ``DulyError``
that an app on the store would raise, with its ``code`` and ids.

Both clients share everything but the sending: ``schedules``, ``runs``, ``control`` and ``nouns`` turn a method into a
``Call``; ``talking`` has it sent, tries again where that is safe, and reads the answer. It is a generator that yields
what to do and is sent what came of it, so there are no twins to be kept alike.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .aio import AsyncClient
    from .sync import Client

__all__ = ["AsyncClient", "Client"]

_HOME_OF = {"AsyncClient": "aio", "Client": "sync"}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'duly.client' has no attribute {name!r}")
    return getattr(import_module(f"duly.client.{_HOME_OF[name]}"), name)
