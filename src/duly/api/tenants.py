"""``?tenant=``: whose schedule a key means, for a caller who sees those of every tenant."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from duly.app import Duly
from duly.core.ids import is_id, is_key

from . import queries
from .http import Call, Run
from .operations.schedules import unknown
from .queries import read_query
from .replies import Reply
from .route import Route

OF_ONE = "/schedules/{ref}"


def of_tenants(routes: Iterable[Route]) -> tuple[Route, ...]:
    """The routes; those of one schedule take ``?tenant=``. A PUT may create, so it minds the tenant itself."""
    return tuple(_of_tenant(route) if route.path.startswith(OF_ONE) else route for route in routes)


def _of_tenant(route: Route) -> Route:
    run = route.run if route.method == "PUT" else _chosen(route.run, strict=not route.query)
    codes = route.codes if "CONFLICT" in route.codes else (*route.codes, "CONFLICT")
    return replace(route, run=run, query={**route.query, **queries.TENANT}, codes=codes)


def _chosen(run: Run, *, strict: bool) -> Run:
    """Let a route be asked about the id of what is, or was, the tenant's."""

    async def chosen(app: Duly, call: Call) -> Reply:
        if strict:
            read_query(call.query, queries.TENANT)
        if "tenant" not in call.query:
            return await run(app, call)
        others = {name: value for name, value in call.query.items() if name != "tenant"}
        tenant = read_query({"tenant": call.query["tenant"]}, queries.TENANT)["tenant"]
        if not is_id(call.ref) and not is_key(call.ref):
            raise unknown(call.ref)
        trail = await app.schedules.changes(call.ref, limit=1, tenant=tenant)
        return await run(app, replace(call, ref=trail.items[0].schedule_id, query=others))

    return chosen
