"""Signatures of webhooks, against the specification's own example and another library."""

import base64
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standardwebhooks import Webhook

from duly.core.errors import DulyError, SignatureInvalid, ValidationFailed
from duly.core.signing import check_secret, check_signature, signature_headers, write_secret

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
ID, AT, BODY = "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}'
SIGNATURE = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
OTHER = write_secret(b"o" * 32)


def headers(**changed: str) -> dict[str, str]:
    known = {"webhook-id": ID, "webhook-timestamp": str(AT), "webhook-signature": SIGNATURE}
    return known | {name.replace("_", "-"): value for name, value in changed.items()}


def test_the_example_of_the_specification() -> None:
    assert signature_headers([SECRET], id=ID, seconds=AT, body=BODY) == headers()
    assert check_signature([SECRET], headers(), BODY, now_s=AT) == ID


def test_names_of_headers_are_read_in_any_case() -> None:
    assert check_signature([SECRET], {k.title(): v for k, v in headers().items()}, BODY, now_s=AT) == ID


@given(key=st.binary(min_size=24, max_size=64), body=st.binary(max_size=300), id=st.uuids())
def test_another_library_accepts_what_we_sign_and_we_what_it_signs(key: bytes, body: bytes, id: object) -> None:
    secret, now = write_secret(key), datetime.now(UTC)
    text = base64.b64encode(body).decode()
    ours = signature_headers([OTHER, secret], id=str(id), seconds=int(now.timestamp()), body=text.encode())
    theirs = Webhook(secret)
    assert theirs.sign(str(id), now, text) == ours["webhook-signature"].split(" ")[1]
    check_signature([secret], ours, text.encode(), now_s=int(now.timestamp()))


def test_while_a_secret_is_changed_both_are_good() -> None:
    both = signature_headers([OTHER, SECRET], id=ID, seconds=AT, body=BODY)
    assert len(both["webhook-signature"].split(" ")) == 2
    for one in (OTHER, SECRET):
        assert check_signature([one], both, BODY, now_s=AT) == ID
    assert check_signature([OTHER, SECRET], headers(), BODY, now_s=AT) == ID


REFUSED: dict[str, Callable[[], object]] = {
    "W44: a body changed by one byte": lambda: check_signature([SECRET], headers(), BODY + b" ", now_s=AT),
    "another id": lambda: check_signature([SECRET], headers(webhook_id="msg_2"), BODY, now_s=AT),
    "another time": lambda: check_signature([SECRET], headers(webhook_timestamp=str(AT + 1)), BODY, now_s=AT),
    "another secret": lambda: check_signature([OTHER], headers(), BODY, now_s=AT),
    "no secret": lambda: check_signature([], headers(), BODY, now_s=AT),
    "too old": lambda: check_signature([SECRET], headers(), BODY, now_s=AT + 301),
    "from ahead": lambda: check_signature([SECRET], headers(), BODY, now_s=AT - 301),
    "no id": lambda: check_signature([SECRET], headers(webhook_id=""), BODY, now_s=AT),
    "no headers": lambda: check_signature([SECRET], {}, BODY, now_s=AT),
    "a time that is none": lambda: check_signature([SECRET], headers(webhook_timestamp="soon"), BODY, now_s=AT),
    "a time in other digits": lambda: check_signature([SECRET], headers(webhook_timestamp="١٢٣"), BODY, now_s=AT),
    "an endless time": lambda: check_signature([SECRET], headers(webhook_timestamp="9" * 5000), BODY, now_s=AT),
    "a signature of another version": lambda: check_signature(
        [SECRET], headers(webhook_signature=SIGNATURE.replace("v1,", "v2,")), BODY, now_s=AT
    ),
    "a signature that is no base64": lambda: check_signature(
        [SECRET], headers(webhook_signature="v1,é%%%"), BODY, now_s=AT
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_signed_of_late_is_refused(case: str) -> None:
    with pytest.raises(SignatureInvalid):
        REFUSED[case]()


@pytest.mark.parametrize(
    "secret", ["", "whsec_", "whsec_%%%", "whsec_" + "A" * 20, write_secret(b"x" * 65), "MfKQ9r8GKYqrTwjUPD8", None, 7]
)
def test_a_secret_that_is_none_is_refused_and_not_repeated(secret: object) -> None:
    with pytest.raises(ValidationFailed) as refused:
        check_secret(secret)
    assert not isinstance(secret, str) or len(secret) < 10 or secret not in str(refused.value)


@given(st.binary(min_size=24, max_size=64))
def test_a_made_secret_is_a_good_one(entropy: bytes) -> None:
    assert check_secret(write_secret(entropy)).startswith("whsec_")


@given(st.text(), st.text(), st.text(), st.binary(max_size=50))
def test_whatever_comes_is_judged_and_never_breaks(id: str, at: str, signature: str, body: bytes) -> None:
    came = {"webhook-id": id, "webhook-timestamp": at, "webhook-signature": signature}
    with pytest.raises(DulyError):
        check_signature([SECRET], came, body, now_s=AT)
