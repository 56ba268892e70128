"""The shop's pages."""

from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from duly.integrations.django import scheduler, with_commit
from orders.jobs import send_receipt
from orders.models import Order


class CardRefused(Exception):
    """The order is not to be."""


@csrf_exempt
@require_POST
def make_order(request: HttpRequest) -> HttpResponse:
    """An order and its receipt, or neither."""
    try:
        with transaction.atomic():
            order = Order.objects.create()
            with_commit(scheduler().sync.enqueue, send_receipt.bind(order=order.pk))
            if request.GET.get("fail"):
                raise CardRefused
    except CardRefused:
        return JsonResponse({"error": "the card was refused"}, status=402)
    return JsonResponse({"order": order.pk}, status=201)


def show_order(request: HttpRequest, order: int) -> HttpResponse:
    found = Order.objects.filter(pk=order).first()
    if found is None:
        return JsonResponse({"error": "no such order"}, status=404)
    return JsonResponse({"order": found.pk, "receipts": found.receipts})
