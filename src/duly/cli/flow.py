"""What ``duly workflow`` asks for, on a store and on a server."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from duly.app import Duly
    from duly.client import Client

Answer = dict[str, Any]


class Flow(Protocol):
    def start_workflow(self, name: str, body: Answer) -> Answer: ...
    def list_steps(self, ref: str) -> Answer: ...
    def signal_run(self, ref: str, name: str, body: Answer) -> Answer: ...
    def update_run(self, ref: str, name: str, body: Answer) -> Answer: ...
    def get_value(self, ref: str, name: str) -> Answer: ...
    def publish_event(self, event: str, body: Answer) -> Answer: ...
    def list_on_event(self) -> Answer: ...


class StoreFlow:
    """The part of ``StoreBackend`` for workflows."""

    _app: Duly

    def _do(self, operation: Awaitable[Any]) -> Answer:
        raise NotImplementedError

    def start_workflow(self, name: str, body: Answer) -> Answer:
        from duly.api.operations import workflows

        return self._do(workflows.start(self._app, name, body))

    def list_steps(self, ref: str) -> Answer:
        from duly.api.operations import workflows

        return self._do(workflows.list_steps(self._app, ref))

    def signal_run(self, ref: str, name: str, body: Answer) -> Answer:
        from duly.api.operations import workflows

        return self._do(workflows.signal(self._app, ref, name, body))

    def update_run(self, ref: str, name: str, body: Answer) -> Answer:
        from duly.api.operations import workflows

        return self._do(workflows.update(self._app, ref, name, body))

    def get_value(self, ref: str, name: str) -> Answer:
        from duly.api.operations import workflows

        return self._do(workflows.value(self._app, ref, name))

    def publish_event(self, event: str, body: Answer) -> Answer:
        from duly.api.operations import workflows

        return self._do(workflows.publish(self._app, event, body))

    def list_on_event(self) -> Answer:
        from duly.api.operations import workflows

        return self._do(workflows.list_on_event(self._app))


class ServerFlow:
    """The part of ``ServerBackend`` for workflows."""

    _client: Client

    def start_workflow(self, name: str, body: Answer) -> Answer:
        return self._client.workflows.start(name, **body)

    def list_steps(self, ref: str) -> Answer:
        return self._client.workflows.steps(ref)

    def signal_run(self, ref: str, name: str, body: Answer) -> Answer:
        return self._client.workflows.signal(ref, name, **body)

    def update_run(self, ref: str, name: str, body: Answer) -> Answer:
        return self._client.workflows.update(ref, name, **body)

    def get_value(self, ref: str, name: str) -> Answer:
        return self._client.workflows.query(ref, name)

    def publish_event(self, event: str, body: Answer) -> Answer:
        return self._client.workflows.publish(event, **body)

    def list_on_event(self) -> Answer:
        return self._client.workflows.on_event()
