"""``GET /instances``: the processes of a fleet."""

from __future__ import annotations

from duly.app import Duly
from duly.core.credential import Scope

from .http import Call
from .operations.instances import list_instances
from .replies import Reply
from .route import Route
from .shapes import InstancePage


async def _instances(app: Duly, call: Call) -> Reply:
    return Reply(await list_instances(app))


INSTANCES = Route(
    method="GET",
    path="/instances",
    name="listInstances",
    summary="List the processes that are alive",
    run=_instances,
    scope=Scope.ADMIN,
    answer=InstancePage,
)
