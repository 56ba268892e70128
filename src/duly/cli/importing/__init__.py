"""``duly import``: schedules of other tools become ours.

Each source has a file that turns what it holds into *carried* schedules (bodies of the REST API) and a list of what is
*left*, each with its reason (``values.py``). A schedule is carried only if it will fire when it fired there; where
something beside the time differs, a note says so. Nothing is ever unpickled, and only ``beat_tables.py`` reads a
database: that of the other tool, without changing it.
"""

from __future__ import annotations

from duly.cli.grouping import lazy_group

command = lazy_group(
    "import",
    "Bring schedules over from another tool; what cannot be carried over is reported, with the reason.",
    {
        "apscheduler": ("importing.commands:from_apscheduler", "From APScheduler 3, or a list of its jobs as JSON."),
        "celery": ("importing.commands:from_celery", "From Celery's beat_schedule, or from django-celery-beat."),
        "crontab": ("importing.commands:from_crontab", "From crontabs of users or of the system."),
    },
)
