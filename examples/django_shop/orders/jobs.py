"""The shop's jobs: found by their module's name, as models are."""

from django.db.models import F

import duly
from orders.models import Count, Order

jobs = duly.Jobs()


@jobs.job()
def send_receipt(order: int) -> str:
    Order.objects.filter(pk=order).update(receipts=F("receipts") + 1)
    return f"sent the receipt of order {order}"


@jobs.every("2s", name="count-orders")
async def count_orders(run: duly.RunContext) -> int:
    orders = await Order.objects.acount()
    await Count.objects.acreate(orders=orders, window_at=run.scheduled_at)
    return orders


@jobs.job(process=True)
def close_the_books() -> int:
    """Runs in a process of its own, which can be killed."""
    return Order.objects.count()
