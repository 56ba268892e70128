"""Which class serves which URL: by its scheme; others add theirs by the entry point group ``duly.targets``."""

from __future__ import annotations

import re
from importlib import import_module
from importlib.metadata import entry_points
from urllib.parse import urlsplit, urlunsplit

from duly.core.errors import ConfigurationError

from .target import Target, TargetFactory

GROUP = "duly.targets"
"""An entry point's name is the scheme; what it names takes (name, url) and answers a target."""

OURS: dict[str, tuple[str, str]] = {}
"""Scheme → (where the class is, the extra that installs what it needs)."""

TARGET_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)


def check_name(name: str) -> str:
    """Answer the name of a target, or refuse it."""
    if not isinstance(name, str) or not TARGET_NAME.fullmatch(name):
        raise ConfigurationError(
            f"target name is {name!r}; expected 1 to 64 letters, digits, dots, dashes and underscores, e.g."
            " notification-queue"
        )
    return name


def make_target(name: str, url: str) -> Target:
    """The target of a name and a URL; nothing is connected yet. A mistake in the configuration shows here."""
    check_name(name)
    scheme = scheme_of(name, url)
    if scheme in OURS:
        path, extra = OURS[scheme]
        return _load_ours(path, extra, name)(name, url)
    return _load_others(scheme, name)(name, url)


def scheme_of(name: str, url: str) -> str:
    """The scheme of a target's URL."""
    scheme, separator, _ = url.partition("://") if isinstance(url, str) else ("", "", "")
    if not separator or not scheme:
        raise ConfigurationError(
            f"target {name!r}: url is {without_password(str(url))!r}; expected one such as redis://host:6379/0?stream=NAME"
        )
    return scheme.lower()


def schemes() -> list[str]:
    """Every scheme that has a class."""
    return sorted({*OURS, *(point.name for point in entry_points(group=GROUP))})


def without_password(url: str) -> str:
    """A URL that can be shown: its password, and what its query calls one, as ``***``."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "***"
    user, at, host = parts.netloc.rpartition("@")
    if at:
        name, colon, _ = user.partition(":")
        user = f"{name}:***" if colon else user
    query = re.sub(r"(?i)((?:^|&)[^=&]*(?:pass|secret|token|key)[^=&]*=)[^&]*", r"\1***", parts.query)
    return urlunsplit(parts._replace(netloc=f"{user}{at}{host}", query=query))


def driver(module: str, extra: str, name: str) -> object:
    """Import what a target speaks through; where it is not installed, say how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ConfigurationError(
            f"target {name!r} needs the package {package}, which is not installed: pip install 'duly[{extra}]'"
        ) from error


def _load_ours(path: str, extra: str, name: str) -> TargetFactory:
    module, _, attribute = path.partition(":")
    factory: TargetFactory = getattr(driver(module, extra, name), attribute)
    return factory


def _load_others(scheme: str, name: str) -> TargetFactory:
    points = list(entry_points(group=GROUP, name=scheme))
    if not points:
        raise ConfigurationError(
            f"target {name!r}: url begins with {scheme}://; expected one of {', '.join(schemes()) or 'none installed'}"
        )
    if len({point.value for point in points}) > 1:
        found = " and ".join(sorted(point.value for point in points))
        raise ConfigurationError(f"target {name!r}: {scheme}:// is served by {found}; uninstall all but one of them")
    factory: TargetFactory = points[0].load()
    return factory
