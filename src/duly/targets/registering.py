"""Which class serves which URL: by its scheme; others add theirs by the entry point group ``duly.targets``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from duly.config.masking import mask_url
from duly.core.errors import ConfigurationError
from duly.core.outside import RESERVED_NAME

from .target import Target, TargetFactory

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "duly.targets"
"""An entry point's name is the scheme; what it names takes (name, url) and answers a target."""

OURS: dict[str, tuple[str, str]] = {
    "amqp": ("duly.targets.rabbitmq:RabbitTarget", "rabbitmq"),
    "amqps": ("duly.targets.rabbitmq:RabbitTarget", "rabbitmq"),
    "nats": ("duly.targets.nats:NatsTarget", "nats"),
    "tls": ("duly.targets.nats:NatsTarget", "nats"),
    "redis": ("duly.targets.redis:RedisTarget", "redis"),
    "rediss": ("duly.targets.redis:RedisTarget", "redis"),
    "valkey": ("duly.targets.redis:RedisTarget", "redis"),
    "kafka": ("duly.targets.kafka:KafkaTarget", "kafka"),
    "kafkas": ("duly.targets.kafka:KafkaTarget", "kafka"),
    "sqs": ("duly.targets.sqs:SqsTarget", "sqs"),
    "celery+redis": ("duly.targets.celery:CeleryTarget", "celery"),
    "celery+rediss": ("duly.targets.celery:CeleryTarget", "celery"),
    "celery+amqp": ("duly.targets.celery:CeleryTarget", "celery"),
    "celery+amqps": ("duly.targets.celery:CeleryTarget", "celery"),
}
"""Scheme → (where the class is, the extra that installs what it needs)."""

TARGET_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)


def check_name(name: str) -> str:
    """Answer the name of a target, or refuse it."""
    if not isinstance(name, str) or not TARGET_NAME.fullmatch(name) or name == RESERVED_NAME:
        taken = f", and not {RESERVED_NAME!r}, which is taken" if name == RESERVED_NAME else ""
        raise ConfigurationError(
            f"target name is {name!r}; expected 1 to 64 letters, digits, dots, dashes and underscores{taken}, e.g."
            " notification-queue"
        )
    return name


def check_url(name: str, url: str) -> str:
    """Answer the scheme of a target's URL, or refuse one that nothing serves; no driver is imported for it."""
    scheme = scheme_of(name, url)
    if scheme not in OURS and not entry_points(group=GROUP, name=scheme):
        raise ConfigurationError(
            f"target {name!r}: url begins with {scheme}://; expected one of {', '.join(schemes()) or 'none installed'}"
        )
    return scheme


def make_target(name: str, url: str) -> Target:
    """The target of a name and a URL; nothing is connected yet. A mistake in the configuration shows here."""
    check_name(name)
    scheme = check_url(name, url)
    if scheme in OURS:
        path, extra = OURS[scheme]
        return _load_ours(path, extra, name)(name, url)
    return _load_others(scheme, name)(name, url)


def scheme_of(name: str, url: str) -> str:
    """The scheme of a target's URL."""
    scheme, separator, _ = url.partition("://") if isinstance(url, str) else ("", "", "")
    if not separator or not scheme:
        raise ConfigurationError(
            f"target {name!r}: url is {mask_url(str(url))!r}; expected one such as redis://host:6379/0?stream=NAME"
        )
    return scheme.lower()


def schemes() -> list[str]:
    """Every scheme that has a class."""
    return sorted({*OURS, *(point.name for point in entry_points(group=GROUP))})


def entry_points(*, group: str, name: str | None = None) -> Sequence[EntryPoint]:
    """What other packages have installed."""
    from importlib.metadata import entry_points  # thirty modules, for targets of others alone

    return [point for point in entry_points(group=group) if name in (None, point.name)]


def driver(module: str, extra: str, name: str) -> object:
    """Import what a target speaks through; where it is not installed, say how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        package = (error.name or module).partition(".")[0]
        raise ConfigurationError(
            f"target {name!r} needs the package {package}, which is not installed: pip install 'duly[{extra}]'"
        ) from error


def _load_ours(path: str, extra: str, name: str) -> TargetFactory:
    module, _, attribute = path.partition(":")
    factory: TargetFactory = getattr(driver(module, extra, name), attribute)
    return factory


def _load_others(scheme: str, name: str) -> TargetFactory:
    points = list(entry_points(group=GROUP, name=scheme))
    if len({point.value for point in points}) > 1:
        found = " and ".join(sorted(point.value for point in points))
        raise ConfigurationError(f"target {name!r}: {scheme}:// is served by {found}; uninstall all but one of them")
    factory: TargetFactory = points[0].load()
    return factory
