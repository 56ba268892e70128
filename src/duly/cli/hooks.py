"""What commands ask of a backend about webhooks, and the two that answer: on a store, and on a server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from duly.app import Duly
    from duly.client import Client

Answer = dict[str, Any]
Body = Mapping[str, Any]


class Hooks(Protocol):
    """Webhooks, wherever they are."""

    def list_webhooks(self, query: Mapping[str, str]) -> Answer: ...
    def get_webhook(self, id: str) -> Answer: ...
    def create_webhook(self, body: Body) -> Answer: ...
    def update_webhook(self, id: str, changes: Body) -> Answer: ...
    def rotate_webhook(self, id: str, body: Body) -> Answer: ...
    def test_webhook(self, id: str) -> Answer: ...
    def delete_webhook(self, id: str) -> None: ...


class StoreHooks:
    """The part of ``StoreBackend`` about webhooks."""

    _app: Duly
    _by: str

    def _do(self, operation: Awaitable[Any]) -> Answer:
        raise NotImplementedError

    def _open_after(self, check: Callable[[], Awaitable[Any]]) -> None:
        raise NotImplementedError

    def list_webhooks(self, query: Mapping[str, str]) -> Answer:
        from duly.api.operations import webhooks

        return self._do(webhooks.list_webhooks(self._app, query))

    def get_webhook(self, id: str) -> Answer:
        from duly.api.operations import webhooks

        return self._do(webhooks.get_webhook(self._app, id))

    def create_webhook(self, body: Body) -> Answer:
        from duly.api.operations import webhooks

        self._open_after(lambda: webhooks.check_webhook(dict(body)))
        return self._do(webhooks.create_webhook(self._app, dict(body), by=self._by))

    def update_webhook(self, id: str, changes: Body) -> Answer:
        from duly.api.operations import webhooks

        return self._do(webhooks.update_webhook(self._app, id, dict(changes)))

    def rotate_webhook(self, id: str, body: Body) -> Answer:
        from duly.api.operations import webhooks

        return self._do(webhooks.rotate_secret(self._app, id, dict(body)))

    def test_webhook(self, id: str) -> Answer:
        from duly.api.operations import webhooks

        return self._do(webhooks.test_webhook(self._app, id))

    def delete_webhook(self, id: str) -> None:
        from duly.api.operations import webhooks

        self._do(webhooks.delete_webhook(self._app, id))


class ServerHooks:
    """The part of ``ServerBackend`` about webhooks."""

    _client: Client

    def list_webhooks(self, query: Mapping[str, str]) -> Answer:
        return self._client.webhooks.list(**query)  # type: ignore[arg-type]  # texts go into the query as they are

    def get_webhook(self, id: str) -> Answer:
        return self._client.webhooks.get(id)

    def create_webhook(self, body: Body) -> Answer:
        return self._client.webhooks.create(body=body)

    def update_webhook(self, id: str, changes: Body) -> Answer:
        return self._client.webhooks.update(id, changes)

    def rotate_webhook(self, id: str, body: Body) -> Answer:
        return self._client.webhooks.rotate(id, keep=body["keepSeconds"])

    def test_webhook(self, id: str) -> Answer:
        return self._client.webhooks.test(id)

    def delete_webhook(self, id: str) -> None:
        self._client.webhooks.delete(id)
