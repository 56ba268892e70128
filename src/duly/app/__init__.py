"""The app: what a user makes, and the composition root that alone imports concrete stores."""

from .duly import Duly

__all__ = ["Duly"]
