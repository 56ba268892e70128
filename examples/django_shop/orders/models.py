"""What the shop keeps."""

from django.db import models


class Order(models.Model):
    """One order; ``receipts`` counts how often its receipt was sent."""

    receipts = models.IntegerField(default=0)


class Count(models.Model):
    """How many orders there were, counted by a schedule."""

    orders = models.IntegerField()
    window_at = models.DateTimeField()
