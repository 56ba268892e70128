"""How long targets wait for their servers: a minute in tests, as shipped while a test has taken the server away."""

from contextlib import suppress
from importlib import import_module
from types import ModuleType

PATIENCE = 60.0
"""Seconds that only something which hangs takes, also on a machine that is busy with other things."""

_NAMES = ("CONNECT_WITHIN", "CONFIRM_WITHIN", "ANSWER_WITHIN")


def _modules() -> list[ModuleType]:
    """Not that of Celery, which tries to connect for as long as it may, also where nobody is."""
    found = []
    for name in ("line", "redis", "rabbitmq", "nats", "kafka", "sqs"):
        with suppress(ImportError):  # a driver that is not in this environment
            found.append(import_module(f"duly.targets.{name}"))
    return found


_SHIPPED = [(module, name, getattr(module, name)) for module in _modules() for name in _NAMES if hasattr(module, name)]


def be_patient() -> None:
    """Wait for a server that is there, however busy the machine is."""
    for module, name, _ in _SHIPPED:
        setattr(module, name, PATIENCE)


def be_as_shipped() -> None:
    """Give up on a server as soon as users see it given up."""
    for module, name, seconds in _SHIPPED:
        setattr(module, name, seconds)
