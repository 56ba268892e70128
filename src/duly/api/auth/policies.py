"""What the settings say of callers, made into what a guard goes by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from duly.core.errors import ConfigurationError
from duly.core.quota import Quotas
from duly.runtime.clock import Clock

from .guard import Policy
from .jwt import Issuer, JwtSettings

_QUOTAS = ("schedules", "min_interval_ms", "payload_bytes", "requests_per_minute")
_JWT = ("audience", "algorithms", "secret", "jwks")


def read_policy(values: Mapping[str, Any], clock: Clock) -> Policy:
    """The policy of ``[auth.jwt]``, ``[quotas]`` and ``[api] require_if_match``; refuses what could not be safe."""
    return Policy(
        issuer=_issuer(values, clock),
        quotas=Quotas(**{name: values[f"quotas.{name}"] for name in _QUOTAS}),
        per_address=values["quotas.requests_per_address"],
        require_if_match=values["api.require_if_match"],
    )


def _issuer(values: Mapping[str, Any], clock: Clock) -> Issuer | None:
    given = {name: values[f"auth.jwt.{name}"] for name in _JWT}
    issuer = values["auth.jwt.issuer"]
    if issuer is None:
        named = next((name for name, value in given.items() if value), None)
        if named is not None:
            raise ConfigurationError(f"auth.jwt.{named} is set without auth.jwt.issuer; say who issues the tokens")
        return None
    return Issuer(JwtSettings(issuer=issuer, **given, max_lifetime=values["auth.jwt.max_lifetime"]), clock)
