"""``Timing``: the closed union of the rules of time."""

from duly.core.timing.cron import Cron
from duly.core.timing.every import Every
from duly.core.timing.once import Once

Timing = Cron | Every | Once
