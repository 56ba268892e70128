"""The app: what a user makes, and the composition root that alone imports concrete stores."""

from .duly import Duly
from .jobs import Jobs

__all__ = ["Duly", "Jobs"]
