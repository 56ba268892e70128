"""The public keys of an issuer: a JWKS in a file or behind a URL, read when it is first needed.

A key that is not in it makes it be read again, for an issuer may have changed its keys; but not all the time, for
anybody can send names of keys that do not exist.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from duly.core.errors import ConfigurationError
from duly.runtime.clock import Clock

FRESH = 3600.0
FLOOR = 30.0
PATIENCE = 5.0
LARGEST = 256 * 1024
MOST_KEYS = 100
_FAMILIES = {"RS": "RSA", "ES": "EC", "Ed": "OKP"}
_log = logging.getLogger("duly.api")


class KeySet:
    """Finds keys by their id. ``place`` is a path, or an https URL (http only on this machine)."""

    def __init__(self, place: str, clock: Clock, jwt: Any) -> None:
        self._place = place
        self._steady = clock.steady
        self._jwt = jwt
        self._keys: list[dict[str, Any]] = []
        self._read_at = float("-inf")
        self._reading = asyncio.Lock()
        parts = urlsplit(place)
        self._remote = parts.scheme in ("http", "https")
        if parts.scheme == "http" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
            raise ConfigurationError(f"auth.jwt.jwks is {place!r}; expected https, or a file: keys must come unchanged")

    async def find(self, kid: object, algorithm: str) -> Any:
        """The key that a token names and that can have signed it so; a set of one key needs no name."""
        if kid is not None and not isinstance(kid, str):
            return None
        if self._age() >= FRESH:
            await self._read()
        found = self._pick(kid, algorithm)
        if found is None and self._age() >= FLOOR:
            await self._read()
            found = self._pick(kid, algorithm)
        return None if found is None else self._jwt.PyJWK(found, algorithm=algorithm)

    def _pick(self, kid: str | None, algorithm: str) -> dict[str, Any] | None:
        fitting = [
            key
            for key in self._keys
            if key.get("kty") == _FAMILIES[algorithm[:2]]
            and key.get("alg", algorithm) == algorithm
            and key.get("use", "sig") == "sig"
        ]
        if kid is None:
            return fitting[0] if len(self._keys) == 1 and fitting else None
        return next((key for key in fitting if key.get("kid") == kid), None)

    def _age(self) -> float:
        return self._steady() - self._read_at

    async def _read(self) -> None:
        """Read the set; where that fails, the one that is known goes on."""
        async with self._reading:
            if self._age() < FLOOR:
                return  # somebody else has just done it
            self._read_at = self._steady()
            try:
                async with asyncio.timeout(PATIENCE):
                    text = await (self._fetched() if self._remote else asyncio.to_thread(self._file))
                keys = msgspec.json.decode(text)["keys"]
                self._keys = [key for key in keys if isinstance(key, dict)][:MOST_KEYS]
            except Exception as error:  # noqa: BLE001 - whatever is wrong with it, requests get a plain 401
                _log.warning("the keys of the issuer could not be read: %s: %s", type(error).__name__, error)

    def _file(self) -> bytes:
        return Path(self._place).read_bytes()[:LARGEST]

    async def _fetched(self) -> bytes:
        import httpx2  # only a server with such a URL needs it

        # Whom the machine trusts, with SSL_CERT_FILE: an issuer inside a company has a certificate of its own.
        trusted = ssl.create_default_context()
        async with (
            httpx2.AsyncClient(follow_redirects=False, trust_env=False, timeout=PATIENCE, verify=trusted) as client,
            client.stream("GET", self._place, headers={"accept": "application/json"}) as response,
        ):
            response.raise_for_status()
            text = b""
            async for chunk in response.aiter_bytes():
                text += chunk
                if len(text) > LARGEST:
                    raise ValueError(f"it is larger than {LARGEST} bytes")
            return text
