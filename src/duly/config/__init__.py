"""What can be chosen, and who chose it: flags > environment > files > defaults. Only this room reads the environment.

``Settings`` is how one instance behaves; ``load`` finds out what was chosen and remembers where.
"""

from .loading import Loaded, Row, load
from .settings import Settings
from .sources import DEFAULT_DATABASE_URL, database_url, debugging, service_manager, wants_colour

__all__ = [
    "DEFAULT_DATABASE_URL",
    "Loaded",
    "Row",
    "Settings",
    "database_url",
    "debugging",
    "load",
    "service_manager",
    "wants_colour",
]
