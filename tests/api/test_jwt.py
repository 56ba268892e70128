"""Tokens of an issuer: everything about them is checked, and whatever is wrong ends in the same 401."""

import base64
import hmac
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes

from duly import Duly
from duly.api.application import application
from duly.api.auth import keyset
from duly.api.auth.guard import Guard, Policy
from duly.api.auth.jwt import Issuer, JwtSettings
from duly.core.errors import ConfigurationError
from duly.testing import ManualClock
from tests.api.conftest import client_of, sqlite_url
from tests.targets.receiving import Receiver, answer, make_certificate

SECRET = "a secret of at least thirty-two bytes"
ISSUER, AUDIENCE = "https://issuer.example", "duly"
PRIVATE: dict[str, PrivateKeyTypes] = {
    "RS256": rsa.generate_private_key(65537, 2048),
    "ES256": ec.generate_private_key(ec.SECP256R1()),
    "EdDSA": ed25519.Ed25519PrivateKey.generate(),
}
OTHER = ec.generate_private_key(ec.SECP256R1())


def jwk(algorithm: str, key: Any, **words: str) -> dict[str, Any]:
    public = jwt.get_algorithm_by_name(algorithm).to_jwk(key.public_key(), as_dict=True)
    return {**public, "kid": algorithm, "alg": algorithm, "use": "sig", **words}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def claims(clock: ManualClock) -> dict[str, Any]:
    now = clock.now() // 1000
    return {"iss": ISSUER, "aud": AUDIENCE, "sub": "ann", "tenant": "acme", "scope": "read write openid",
            "iat": now, "exp": now + 600}  # fmt: skip


@pytest.fixture
def symmetric(clock: ManualClock) -> Issuer:
    return Issuer(JwtSettings(issuer=ISSUER, audience=(AUDIENCE,), algorithms=("HS256",), secret=SECRET), clock)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    place = tmp_path / "jwks.json"
    place.write_text(json.dumps({"keys": [jwk(name, key) for name, key in PRIVATE.items()]}))
    return place


@pytest.fixture
def asymmetric(clock: ManualClock, place: Path) -> Issuer:
    settings = JwtSettings(issuer=ISSUER, audience=(AUDIENCE,), algorithms=tuple(PRIVATE), jwks=str(place))
    return Issuer(settings, clock)


@pytest.fixture
async def api(tmp_path: Path, clock: ManualClock, symmetric: Issuer) -> AsyncIterator[httpx2.AsyncClient]:
    app = Duly(sqlite_url(tmp_path), clock=clock)
    await app.open()
    served = application(app, guard=Guard(app, Policy(issuer=symmetric)))
    async with client_of(served, "http://localhost/api/v1") as client:
        yield client
    await app.close()


def write(place: Path, text: str) -> None:
    place.write_text(text)


def raw(header: Any, payload: bytes, signature: bytes = b"x") -> str:
    parts = (json.dumps(header).encode(), payload, signature)
    return ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts)


def signed(payload: bytes, **header: Any) -> str:
    """Whatever payload, properly signed."""
    return jwt.api_jws.encode(payload, SECRET, "HS256", headers=header or None)


async def test_the_claims_say_who_calls(symmetric: Issuer, claims: dict[str, Any]) -> None:
    caller = await symmetric.caller(jwt.encode(claims, SECRET, "HS256"))
    assert caller is not None
    assert (caller.owner, caller.tenant, caller.name) == ("ann", "acme", "ann")
    assert sorted(caller.scopes) == ["read", "write"]


async def test_the_keys_of_an_issuer_come_over_https_from_whom_the_machine_trusts(
    tmp_path: Path, clock: ManualClock, place: Path, claims: dict[str, Any], monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    monkeypatch.setattr(keyset, "PATIENCE", 60)
    serving, _ = make_certificate(tmp_path, "localhost")
    server = Receiver(tls=serving, host="localhost", say=lambda came: answer(200, place.read_bytes()))
    await server.start()
    settings = JwtSettings(issuer=ISSUER, audience=(AUDIENCE,), algorithms=("ES256",), jwks=server.url)
    key: Any = PRIVATE["ES256"]
    token = jwt.encode(claims, key, "ES256", headers={"kid": "ES256"})
    try:
        assert await Issuer(settings, clock).caller(token) is None
        assert "CERTIFICATE_VERIFY_FAILED" in caplog.text
        assert server.came == []
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "localhost.pem"))
        caller = await Issuer(settings, clock).caller(token)
        assert caller is not None
        assert caller.owner == "ann"
        server.say = lambda came: answer(302, location=f"https://localhost:{server.port}/elsewhere")
        assert await Issuer(settings, clock).caller(token) is None, "a redirect is not followed"
        assert [came.path for came in server.came] == ["/hook", "/hook"]
    finally:
        await server.stop()


@pytest.mark.parametrize("algorithm", PRIVATE)
async def test_each_algorithm_of_a_key_set(asymmetric: Issuer, claims: dict[str, Any], algorithm: str) -> None:
    def token(key: Any, **header: Any) -> str:
        return jwt.encode(claims, key, algorithm, headers=header)

    assert await asymmetric.caller(token(PRIVATE[algorithm], kid=algorithm)) is not None
    assert await asymmetric.caller(token(PRIVATE[algorithm])) is None, "a set of several needs a name"
    assert await asymmetric.caller(token(PRIVATE[algorithm], kid="other")) is None
    if algorithm == "ES256":
        assert await asymmetric.caller(token(OTHER, kid=algorithm)) is None
        smuggled = {"kid": algorithm, "jwk": jwk("ES256", OTHER)}
        assert await asymmetric.caller(token(OTHER, **smuggled)) is None


async def test_bad_tokens_of_the_list_are_401(api: httpx2.AsyncClient, claims: dict[str, Any]) -> None:
    """The rows A10 to A24."""
    valid = json.dumps(claims).encode()
    now = claims["iat"]
    good = jwt.encode(claims, SECRET, "HS256")
    bad = {
        "A10": raw({"alg": "none"}, valid),
        "A13": raw({"alg": "HS256", "kid": "../../../../dev/null"}, valid, hmac.digest(b"", b"", "sha256")),
        "A14": raw({"alg": "HS256", "kid": "x' OR '1'='1"}, valid),
        "A15": raw({"alg": "RS256", "jku": "http://127.0.0.1/keys", "x5u": "http://127.0.0.1/c"}, valid),
        "A17": signed(valid, crit=["x"], x=1),
        "A20": signed(json.dumps({**claims, "exp": str(now + 600)}).encode()),
        "A23": signed(json.dumps({**claims, "sub": ["a", "b"]}).encode()),
        "A24": signed(b"[" * 5000),
        "tampered": good[:-4] + "AAAA",
        "not a token": "a.b.c",
        "huge": raw({"alg": "HS256"}, b"x" * 9000),
    }
    wrong: dict[str, Any] = {
        "iss": "https://other.example", "aud": "other", "exp": now - 61, "iat": now + 61, "nbf": now + 61,
        "sub": "", "tenant": 7, "scope": [1],
    }  # fmt: skip
    for name, value in wrong.items():
        bad[f"{name} {value}"] = signed(json.dumps({**claims, name: value}).encode())
    for name in ("iss", "aud", "exp", "iat", "sub"):
        bad[f"no {name}"] = signed(json.dumps({k: v for k, v in claims.items() if k != name}).encode())
    bad["far future"] = signed(json.dumps({**claims, "exp": now + 86_401}).encode())
    bad["exp true"] = signed(json.dumps({**claims, "exp": True}).encode())
    bad["exp before iat"] = signed(json.dumps({**claims, "exp": now - 10}).encode())
    for name, token in bad.items():
        answer = await api.get("/schedules", headers={"authorization": f"Bearer {token}"})
        assert (answer.status_code, answer.json()["code"]) == (401, "NOT_AUTHORISED"), name
    assert (await api.get("/schedules", headers={"authorization": f"Bearer {good}"})).status_code == 200
    assert (await api.get("/schedules")).status_code == 401, "an issuer closes the API, also without a key"


async def test_the_owner_of_a_token_is_the_owner_of_what_it_makes(
    api: httpx2.AsyncClient, claims: dict[str, Any], clock: ManualClock
) -> None:
    def bearer(**words: Any) -> dict[str, str]:
        return {"authorization": f"Bearer {jwt.encode({**claims, **words}, SECRET, 'HS256')}"}

    made = await api.post("/schedules", json={"name": "n", "everyMs": 60_000, "jobType": "x"}, headers=bearer())
    assert made.json()["metadata"] | {"correlationId": None} == {
        "ownerId": "ann", "tenantId": "acme", "correlationId": None, "clientRequestId": None
    }  # fmt: skip
    path = f"/schedules/{made.json()['id']}"
    for words, expected in (({}, 200), ({"sub": "bob"}, 404), ({"tenant": "other"}, 404), ({"scope": "write"}, 403)):
        assert (await api.get(path, headers=bearer(**words))).status_code == expected
    clock.move(seconds=661)
    assert (await api.get(path, headers=bearer(exp=claims["exp"]))).status_code == 401


async def test_new_keys_of_an_issuer_are_found_but_not_looked_for_all_the_time(
    asymmetric: Issuer, claims: dict[str, Any], place: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys: Any = asymmetric._keys
    reads: list[int] = []
    plain = keys._file

    def counted() -> bytes:
        reads.append(1)
        text: bytes = plain()
        return text

    monkeypatch.setattr(keys, "_file", counted)
    later = {**claims, "exp": claims["exp"] + 3600}
    token = jwt.encode(later, OTHER, "ES256", headers={"kid": "new"})
    for _ in range(3):
        assert await asymmetric.caller(token) is None
    assert len(reads) == 1
    write(place, json.dumps({"keys": [jwk("ES256", OTHER, kid="new")]}))
    clock.move(seconds=30)
    assert await asymmetric.caller(token) is not None
    write(place, "{")
    clock.move(seconds=3601)
    assert keys._pick("new", "ES256") is not None
    await keys._read()
    assert keys._pick("new", "ES256") is not None, "the set that is known goes on where a new one cannot be read"


@pytest.mark.parametrize(
    "words",
    [
        {"secret": "short"},
        {"audience": ()},
        {"algorithms": ("none",)},
        {"algorithms": ("RS256",)},
        {"algorithms": ()},
        {"jwks": "keys.json"},
        {"secret": None},
        {"secret": None, "jwks": "http://issuer.example/keys", "algorithms": ("RS256",)},
    ],
)
def test_what_could_not_be_safe_is_refused_at_start(words: dict[str, Any]) -> None:
    good: dict[str, Any] = {
        "issuer": ISSUER, "audience": (AUDIENCE,), "algorithms": ("HS256",), "secret": SECRET
    }  # fmt: skip
    with pytest.raises(ConfigurationError, match=r"auth\.jwt"):
        Issuer(JwtSettings(**(good | words)), ManualClock())
