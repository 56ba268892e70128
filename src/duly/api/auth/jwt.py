"""Tokens of an issuer outside: JWTs, whose signature and claims are all checked, and whose keys are a fixed set.

What a token itself says about its algorithm or its key is a look-up in what was configured, never an instruction.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from duly.core.credential import Caller, Scope
from duly.core.errors import ConfigurationError
from duly.runtime.clock import Clock

from .keyset import KeySet

ALGORITHMS = ("HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "ES256", "ES384", "ES512", "EdDSA")
LEEWAY = 60
MAX_LIFETIME = 86_400.0
SHORTEST_SECRET = 32
REQUIRED = ("exp", "iat", "sub", "aud", "iss")
_PARTS = re.compile(r"[A-Za-z0-9_-]{2,2000}\.[A-Za-z0-9_-]{2,6000}\.[A-Za-z0-9_-]{1,2000}")
_WORD = re.compile(r"[^\x00-\x1f\x7f-\x9f]{1,128}")


@dataclass(frozen=True, slots=True, kw_only=True)
class JwtSettings:
    """``[auth.jwt]``: who issues tokens, for whom, signed how. ``max_lifetime`` is the longest a token may live."""

    issuer: str
    audience: tuple[str, ...]
    algorithms: tuple[str, ...]
    secret: str | None = None
    jwks: str | None = None
    max_lifetime: float = MAX_LIFETIME

    def __post_init__(self) -> None:
        if not self.audience:
            raise ConfigurationError("auth.jwt.audience is missing; expected whom the tokens are for, such as duly")
        if (self.secret is None) == (self.jwks is None):
            raise ConfigurationError("auth.jwt needs one of secret and jwks; expected a secret for HS*, else a key set")
        unknown = [name for name in self.algorithms if name not in ALGORITHMS]
        if unknown or not self.algorithms:
            shown = unknown[0] if unknown else "empty"
            raise ConfigurationError(f"auth.jwt.algorithms is {shown}; expected some of {', '.join(ALGORITHMS)}")
        symmetric = {name.startswith("HS") for name in self.algorithms}
        if symmetric != {self.secret is not None}:
            raise ConfigurationError(
                "auth.jwt.algorithms do not fit: expected HS* alone with a secret, or others alone with jwks"
            )
        if self.secret is not None and len(self.secret.encode()) < SHORTEST_SECRET:
            raise ConfigurationError(f"auth.jwt.secret is too short; expected {SHORTEST_SECRET} bytes or more")


class Issuer:
    """Reads the tokens of one issuer."""

    def __init__(self, settings: JwtSettings, clock: Clock, keys: KeySet | None = None) -> None:
        self._settings = settings
        self._clock = clock
        self._jwt = _library()
        self.name = settings.issuer
        self._keys = keys or (None if settings.jwks is None else KeySet(settings.jwks, clock, self._jwt))

    async def caller(self, token: str) -> Caller | None:
        """Who calls with this token; None if anything about it is not right."""
        if not _PARTS.fullmatch(token):
            return None
        try:
            header = self._jwt.get_unverified_header(token)
            key = await self._key(header)
            if key is None:
                return None
            claims = await asyncio.to_thread(self._verified, token, key)
        except (self._jwt.PyJWTError, ValueError, TypeError, RecursionError):
            return None
        return self._read(claims)

    async def _key(self, header: Mapping[str, Any]) -> Any:
        """The key of the set that the header names; nothing that it brings along, or asks to be fetched, counts."""
        if header.get("alg") not in self._settings.algorithms or "crit" in header or header.get("b64") is False:
            return None
        if self._keys is None:
            return self._settings.secret
        return await self._keys.find(header.get("kid"), str(header["alg"]))

    def _verified(self, token: str, key: Any) -> dict[str, Any]:
        claims: dict[str, Any] = self._jwt.decode(
            token,
            key,
            algorithms=list(self._settings.algorithms),
            audience=list(self._settings.audience),
            issuer=self._settings.issuer,
            leeway=LEEWAY,
            # The instants are checked below, on the clock of this process and without any coercion.
            options={"require": list(REQUIRED), "verify_exp": False, "verify_iat": False, "verify_nbf": False},
        )
        return claims

    def _read(self, claims: Mapping[str, Any]) -> Caller | None:
        now = self._clock.now() / 1000
        exp, iat, nbf = claims["exp"], claims["iat"], claims.get("nbf", 0)
        if not all(_is_instant(at) for at in (exp, iat, nbf)):
            return None
        if now >= exp + LEEWAY or iat > now + LEEWAY or nbf > now + LEEWAY:
            return None
        if not 0 < exp - iat <= self._settings.max_lifetime:
            return None
        owner, tenant, scopes = claims["sub"], claims.get("tenant", ""), _scopes(claims.get("scope", ""))
        if not _is_word(owner) or not (tenant == "" or _is_word(tenant)) or scopes is None:
            return None
        return Caller(name=owner, scopes=scopes, owner=owner, tenant=tenant)


def _is_instant(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 2**40


def _is_word(value: object) -> bool:
    return isinstance(value, str) and _WORD.fullmatch(value) is not None


def _scopes(given: object) -> frozenset[Scope] | None:
    """Words of a text, or a list; those that are not ours belong to others."""
    words = given.split() if isinstance(given, str) else given
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        return None
    return frozenset(Scope(word) for word in words if word in tuple(Scope))


def _library() -> Any:
    try:
        import jwt
    except ImportError as error:
        raise ConfigurationError("auth.jwt needs PyJWT; install with pip install 'duly[oidc]'") from error
    version = tuple(int(part) for part in jwt.__version__.split(".")[:2])
    if version < (2, 12):
        raise ConfigurationError(f"auth.jwt needs PyJWT 2.12 or newer, not {jwt.__version__}; upgrade duly[oidc]")
    return jwt
