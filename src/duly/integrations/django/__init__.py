"""duly in a Django project: ``INSTALLED_APPS = [..., "duly.integrations.django"]``.

Each app of the project declares its jobs in its ``jobs.py``, on a ``duly.Jobs()``. ``scheduler()`` is the project's one
``Duly``, on the database that the setting ``DULY`` names, else beside Django's own. ``with_commit`` does something if
and when the transaction commits; ``manage.py duly ...`` is the command line; the admin lists schedules and runs.
"""

from __future__ import annotations

from .keeping import scheduler
from .transactions import atomic_connection, with_commit

__all__ = ["atomic_connection", "scheduler", "with_commit"]
