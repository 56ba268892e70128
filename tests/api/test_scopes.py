"""Each route says which scope it asks for."""

from __future__ import annotations

import pytest

from duly.api.route import Route
from duly.api.routes import ROUTES
from duly.core.credential import ANYBODY, Caller, Scope
from tests.counting import at_least


@pytest.mark.parametrize("route", at_least(ROUTES, 79, "operations"), ids=lambda route: route.name)
def test_route_declares_a_scope(route: Route) -> None:
    assert (route.scope is None) is route.open, f"{route.name} is open to nobody; give it a scope"


def test_admin_may_do_all_but_a_workers_work() -> None:
    admin = Caller(name="root", scopes=frozenset({Scope.ADMIN}))
    assert {scope for scope in Scope if admin.may(scope)} == set(Scope) - {Scope.WORKER}
    assert admin.whose is None


def test_a_route_without_a_scope_is_open_to_nobody() -> None:
    assert not ANYBODY.may(None)
    assert all(ANYBODY.may(scope) for scope in Scope)


def test_others_may_do_what_they_are_given_and_see_their_own() -> None:
    worker = Caller(name="w", scopes=frozenset({Scope.WORKER}))
    assert [scope for scope in Scope if worker.may(scope)] == [Scope.WORKER]
    user = Caller(name="k", scopes=frozenset({Scope.READ}), owner="u1", tenant="acme")
    assert [scope for scope in Scope if user.may(scope)] == [Scope.READ]
    assert user.whose is not None
    assert (user.whose.owner, user.whose.tenant) == ("u1", "acme")
