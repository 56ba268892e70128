"""Names for the admin and for permissions. The rows are duly's: ask ``scheduler().sync`` for them."""

from __future__ import annotations

from typing import Any

from django.db import models


class NoRows(models.Manager):
    """Finds nothing and asks nobody, so that ``dumpdata`` and the like pass these models by."""

    use_in_migrations = False

    def get_queryset(self) -> Any:
        return super().get_queryset().none()


class Schedule(models.Model):
    """Carries the permissions ``duly.view_schedule`` and ``duly.change_schedule`` (run now, pause, resume)."""

    id = models.CharField(primary_key=True, max_length=36, editable=False)
    key = models.CharField(max_length=200, editable=False)

    objects = NoRows()

    class Meta:
        managed = False
        default_permissions = ("view", "change")
        base_manager_name = "objects"

    def __str__(self) -> str:
        return str(self.key)


class Run(models.Model):
    """Carries the permission ``duly.view_run``."""

    id = models.CharField(primary_key=True, max_length=300, editable=False)

    objects = NoRows()

    class Meta:
        managed = False
        default_permissions = ("view",)
        base_manager_name = "objects"

    def __str__(self) -> str:
        return str(self.id)
