"""What operators ask of a backend, and the two that answer: on a store, and on a server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from duly.app import Duly
    from duly.client import Client
    from duly.core.operation import Operation

Answer = dict[str, Any]
Body = Mapping[str, Any]
Told = Callable[[Answer], None]
"""Is shown an operation after each step."""


class Control(Protocol):
    """What is done to many, back in time, or to all; and what is seen over all."""

    def change_many(self, body: Body, told: Told) -> Answer:
        """Do one thing to many schedules, to its end; or, dry, count them."""
        ...

    def backfill(self, ref: str, body: Body) -> Answer: ...
    def list_changes(self, ref: str, query: Mapping[str, str]) -> Answer: ...
    def list_coming(self, query: Mapping[str, str]) -> Answer: ...
    def list_late(self, query: Mapping[str, str]) -> Answer: ...
    def stats(self) -> Answer: ...
    def dead_groups(self, query: Mapping[str, str]) -> Answer: ...
    def get_operation(self, id: str) -> Answer: ...
    def list_operations(self, query: Mapping[str, str]) -> Answer: ...
    def firing(self) -> Answer: ...
    def pause_firing(self, body: Body) -> Answer: ...
    def resume_firing(self, body: Body, told: Told) -> Answer: ...
    def mark_restored(self, body: Body) -> Answer: ...


class StoreControl:
    """The part of ``StoreBackend`` for operators: this process does the work."""

    _app: Duly
    _by: str

    def _do(self, operation: Awaitable[Any]) -> Answer:
        raise NotImplementedError

    def change_many(self, body: Body, told: Told) -> Answer:
        from duly.api.operations import controlling

        return self._do(controlling.change_many(self._app, dict(body), by=self._by, on_progress=_shown(told)))

    def backfill(self, ref: str, body: Body) -> Answer:
        from duly.api.operations import controlling

        return self._do(controlling.backfill(self._app, ref, dict(body), by=self._by))

    def list_changes(self, ref: str, query: Mapping[str, str]) -> Answer:
        from duly.api.operations import overlooking

        return self._do(overlooking.list_changes(self._app, ref, query))

    def list_coming(self, query: Mapping[str, str]) -> Answer:
        from duly.api.operations import overlooking

        return self._do(overlooking.list_coming(self._app, query))

    def list_late(self, query: Mapping[str, str]) -> Answer:
        from duly.api.operations import overlooking

        return self._do(overlooking.list_late(self._app, query))

    def stats(self) -> Answer:
        from duly.api.operations import overlooking

        return self._do(overlooking.get_stats(self._app))

    def dead_groups(self, query: Mapping[str, str]) -> Answer:
        from duly.api.operations import overlooking

        return self._do(overlooking.list_dead_groups(self._app, query))

    def get_operation(self, id: str) -> Answer:
        from duly.api.operations import controlling

        return self._do(controlling.get_operation(self._app, id))

    def list_operations(self, query: Mapping[str, str]) -> Answer:
        from duly.api.operations import controlling

        return self._do(controlling.list_operations(self._app, query))

    def firing(self) -> Answer:
        from duly.api.operations import overlooking

        return self._do(overlooking.get_firing(self._app))

    def pause_firing(self, body: Body) -> Answer:
        from duly.api.operations import overlooking

        return self._do(overlooking.pause_firing(self._app, dict(body), by=self._by))

    def resume_firing(self, body: Body, told: Told) -> Answer:
        from duly.api.operations import overlooking

        return self._do(overlooking.resume_firing(self._app, dict(body), by=self._by, on_progress=_shown(told)))

    def mark_restored(self, body: Body) -> Answer:
        from duly.api.operations import overlooking

        return self._do(overlooking.mark_restored(self._app, dict(body), by=self._by))


class ServerControl:
    """The part of ``ServerBackend`` for operators: the server does the work, and is asked how far it is."""

    _client: Client

    def change_many(self, body: Body, told: Told) -> Answer:
        return self._followed(self._client.schedules.change_many(body), told)

    def backfill(self, ref: str, body: Body) -> Answer:
        return self._client.schedules.backfill_by(ref, body)

    def list_changes(self, ref: str, query: Mapping[str, str]) -> Answer:
        return self._client.schedules.changes(ref, limit=int(query["limit"]), cursor=query.get("cursor"))

    def list_coming(self, query: Mapping[str, str]) -> Answer:
        return self._client.schedules.coming(**query)  # type: ignore[arg-type]  # texts go into the query as they are

    def list_late(self, query: Mapping[str, str]) -> Answer:
        return self._client.schedules.late(**query)  # type: ignore[arg-type]  # as above

    def stats(self) -> Answer:
        return self._client.schedules.stats()

    def dead_groups(self, query: Mapping[str, str]) -> Answer:
        return self._client.runs.dead_groups(**query)  # type: ignore[arg-type]  # texts go into the query as they are

    def get_operation(self, id: str) -> Answer:
        return self._client.operations.get(id)

    def list_operations(self, query: Mapping[str, str]) -> Answer:
        return self._client.operations.list(**query)  # type: ignore[arg-type]  # texts go into the query as they are

    def firing(self) -> Answer:
        return self._client.firing.state()

    def pause_firing(self, body: Body) -> Answer:
        return self._client.firing.pause(**body)

    def resume_firing(self, body: Body, told: Told) -> Answer:
        return self._followed(self._client.firing.resume(**body), told)

    def mark_restored(self, body: Body) -> Answer:
        return self._client.firing.restored(**body)

    def _followed(self, begun: Answer, told: Told) -> Answer:
        """Look until it has finished; what was dry has no id."""
        return self._client.operations.wait(begun["id"], told) if begun.get("finishedAt", "") is None else begun


def _shown(told: Told) -> Callable[[Operation], None]:
    from duly.api.answers_control import operation_answer

    def show(operation: Operation) -> None:
        told(dict(operation_answer(operation)))

    return show
