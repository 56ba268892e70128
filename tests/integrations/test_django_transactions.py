"""Scheduling inside ``transaction.atomic()``: it is there if the project's own rows are, and only then."""

from contextlib import suppress
from typing import Any

import pytest

import duly
from duly import Every
from tests.acceptance.rules import rule
from tests.integrations.conftest import Shop
from tests.store_choice import POSTGRES


class Refused(Exception): ...


def order_with_a_receipt(shop: Shop) -> int:
    from duly.integrations.django import with_commit

    order = shop.orders.create()
    with_commit(shop.sync.enqueue, "send-receipt", {"order": order.pk})
    with_commit(shop.sync.schedules.create, f"order-{order.pk}", Every("1h"), job="send-receipt", payload={"order": 1})
    return int(order.pk)


def stored(shop: Shop) -> tuple[int, list[int], list[str]]:
    """How many orders there are, whose receipts are to be sent, and the keys of all schedules."""
    runs = [shop.sync.runs.get(run.id) for run in shop.sync.runs.list(job="send-receipt").items]
    return shop.orders.count(), sorted(run.payload["order"] for run in runs), _keys(shop)


def _keys(shop: Shop) -> list[str]:
    return sorted(schedule.key for schedule in shop.sync.schedules.list().items)


def test_both_are_there_after_the_commit_and_neither_before_it(shop: Shop) -> None:
    from django.db import transaction

    with transaction.atomic(using=shop.using):
        order = order_with_a_receipt(shop)
        assert _keys(shop) == []
        assert shop.sync.runs.list().items == []
    assert stored(shop) == (1, [order], [f"order-{order}"])


@rule("Django.transactions")
def test_a_rollback_takes_both_back(shop: Shop) -> None:
    from django.db import transaction

    with suppress(Refused), transaction.atomic(using=shop.using):
        order_with_a_receipt(shop)
        raise Refused
    assert stored(shop) == (0, [], [])


@rule("Django.transactions")
def test_a_savepoint_that_is_rolled_back_takes_only_its_own_back(shop: Shop) -> None:
    from django.db import transaction

    with transaction.atomic(using=shop.using):
        kept = order_with_a_receipt(shop)
        with suppress(Refused), transaction.atomic(using=shop.using):
            order_with_a_receipt(shop)
            raise Refused
        with transaction.atomic(using=shop.using):
            inner = order_with_a_receipt(shop)
    assert stored(shop) == (2, [kept, inner], sorted([f"order-{kept}", f"order-{inner}"]))


def test_without_a_transaction_it_is_done_at_once(shop: Shop) -> None:
    order = order_with_a_receipt(shop)
    assert stored(shop) == (1, [order], [f"order-{order}"])


@pytest.mark.parametrize("shop", [POSTGRES], indirect=True)
def test_every_edit_can_be_made_on_django_s_own_connection(shop: Shop) -> None:
    """Django's connection reads JSON and times by its own rules, which must not be ours."""
    from django.db import transaction

    from duly.integrations.django import atomic_connection

    schedules = shop.sync.schedules
    for ends in (Refused, None):
        try:
            with transaction.atomic(using=shop.using):
                mine: Any = {"connection": atomic_connection()}
                schedules.create("k", Every("1h"), job="send-receipt", payload={"order": 1}, tags=["a"], **mine)
                schedules.update("k", payload={"order": 2}, **mine)
                schedules.put("k", duly.Cron("0 2 * * *"), "send-receipt", payload={"order": 3}, **mine)
                schedules.trigger("k", **mine)
                schedules.pause("k", reason="r", **mine)
                schedules.resume("k", **mine)
                shop.sync.runs.enqueue_many("send-receipt", [{"order": 4}, {"order": 5}], **mine)
                if ends is not None:
                    raise ends
        except Refused:
            assert stored(shop) == (0, [], [])
    assert stored(shop) == (0, [3, 4, 5], ["k"])


@pytest.mark.parametrize("shop", [POSTGRES], indirect=True)
def test_a_refusal_inside_a_transaction_leaves_the_rest_of_it_whole(shop: Shop) -> None:
    from django.db import transaction

    from duly.integrations.django import with_commit

    with transaction.atomic(using=shop.using):
        order = order_with_a_receipt(shop)
        with pytest.raises(duly.DulyError):
            with_commit(shop.sync.schedules.pause, "not-there")
    assert stored(shop) == (1, [order], [f"order-{order}"])


def test_what_cannot_share_a_transaction_says_so(shop: Shop) -> None:
    from django.core.exceptions import ImproperlyConfigured
    from django.db import transaction
    from django.db.transaction import TransactionManagementError

    from duly.integrations.django import atomic_connection

    with pytest.raises(ImproperlyConfigured, match=r"not in DATABASES\['default'\].*on_commit"):
        atomic_connection("default")
    if shop.using == "of_postgres":
        with pytest.raises(TransactionManagementError, match="outside of"):
            atomic_connection()
    else:
        with transaction.atomic(using=shop.using), pytest.raises(ImproperlyConfigured, match="PostgreSQL only"):
            atomic_connection()
