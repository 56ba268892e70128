"""The fields that every error has, what a secret shows, and that an error survives a process boundary."""

from __future__ import annotations

import copy
import logging
import pickle
from typing import Any

import pytest

from duly.client.problems import error_of
from duly.core import errors
from duly.core.errors import HIDDEN, DulyError, Invalid, StoreUnavailable
from duly.telemetry.logs import ConsoleFormatter, JsonFormatter

FIELDS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "nothing": ({}, {"path": None, "got": None, "expected": None, "hint": None, "secret": False}),
    "path": ({"path": "retry.max_attempts"}, {"path": "retry.max_attempts"}),
    "got": ({"got": 0}, {"got": 0}),
    "expected": ({"expected": "1 to 100"}, {"expected": "1 to 100"}),
    "hint": ({"hint": "use a workflow"}, {"hint": "use a workflow"}),
    "secret value": ({"got": "hunter2", "secret": True}, {"got": HIDDEN, "secret": True}),
    "secret without a value": ({"secret": True}, {"got": None, "secret": True}),
}
KINDS = (DulyError, Invalid, errors.NotFound, errors.ConfigurationError, errors.QuotaExceeded)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("given", "expected"), FIELDS.values(), ids=FIELDS)
def test_an_error_carries_the_fields_it_was_given(
    kind: type[DulyError], given: dict[str, Any], expected: dict[str, Any]
) -> None:
    error = kind("max_attempts is out of range", **given)
    assert {name: getattr(error, name) for name in expected} == expected
    assert error.message == str(error) == "max_attempts is out of range"
    assert error.args == ("max_attempts is out of range",)
    assert "secret" not in error.details
    assert "hint" not in error.details
    assert "got" not in error.details


def test_details_of_invalid_hold_none_of_the_fields() -> None:
    error = Invalid("bad", field="x", path="a.x", got=1, expected="2", hint="say 2", item=3)
    assert error.details == {"item": 3}
    assert error.field == "x"


def test_details_of_other_errors_keep_path_and_expected() -> None:
    assert StoreUnavailable("gone", path="/db", statement="s").details == {"path": "/db", "statement": "s"}
    assert errors.RevisionStale("stale", id="1", revision=4, expected=3).details == {
        "id": "1",
        "revision": 4,
        "expected": 3,
    }


SECRETS: dict[str, tuple[object, str, str]] = {
    "in quotes": (
        "s3cret-of-ann",
        "secret is {got!r}; expected 32 characters",
        "secret is ***; expected 32 characters",
    ),
    "bare": ("s3cret-of-ann", "secret s3cret-of-ann is short", "secret *** is short"),
    "twice": ("s3cret-of-ann", "{got} and {got!r}", "*** and ***"),
    "inside a URL": ("s3cret-of-ann", "redis://u:{got}@host", "redis://u:***@host"),
    "with a quote in it": ("it's-ann's", "secret is {got!r}", "secret is ***"),
    "with characters of regular expressions": ("a+b(c", "secret is {got}", "secret is ***"),
    "bytes as Python writes them": (b"s3cret", "key is {got!r}", "key is ***"),
    "bytes as text": (b"s3cret", "key is s3cret", "key is ***"),
    "a number": (12, "pin is {got}; expected 12345 or 112", "pin is ***; expected 12345 or 112"),
    "one letter": ("a", "a secret is {got!r}", "*** secret is ***"),
    "empty": ("", "secret is {got!r}; expected text", "secret is ***; expected text"),
    "not in the message": ("s3cret-of-ann", "the secret is too short", "the secret is too short"),
}


@pytest.mark.parametrize(("got", "template", "shown"), SECRETS.values(), ids=SECRETS)
def test_a_secret_value_is_never_shown(got: object, template: str, shown: str) -> None:
    error = Invalid(template.format(got=got), path="secret", got=got, secret=True)
    assert str(error) == error.message == shown
    assert error.args == (shown,)
    assert vars(pickle.loads(pickle.dumps(error))) == vars(error)
    assert error.got == HIDDEN


@pytest.mark.parametrize(
    "formatter", [JsonFormatter("worker-1"), ConsoleFormatter(colour=False)], ids=["json", "console"]
)
def test_a_log_line_does_not_hold_a_secret(formatter: logging.Formatter) -> None:
    value = "s3cret-of-ann"
    try:
        raise Invalid(f"secret is {value!r}", got=value, secret=True)
    except Invalid as error:
        record = logging.LogRecord(
            "duly", logging.ERROR, "f", 1, "refused: %s %r", (error, error), (type(error), error, None)
        )
        line = formatter.format(record)
    assert value not in line
    assert HIDDEN in line


def test_what_is_no_secret_is_shown() -> None:
    error = Invalid("name is 'report'", got="report")
    assert (error.message, error.got) == ("name is 'report'", "report")


def _examples() -> dict[str, DulyError]:
    custom: dict[str, DulyError] = {
        "KeyInUse": errors.KeyInUse("report", "id-1"),
        "ClientRequestIdInUse": errors.ClientRequestIdInUse("r-1", None),
        "UniqueKeyInUse": errors.UniqueKeyInUse("mail", "id-1"),
        "StepFailed": errors.StepFailed("charge", "no money"),
        "GatherFailed": errors.GatherFailed([(0, "id-1", "no money")]),
    }
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, DulyError)]
    assert len(kinds) >= 47, "the tree of errors lost a class; lower the number in the commit that removes it"
    assert custom.keys() <= {kind.__name__ for kind in kinds}
    return {kind.__name__: custom.get(kind.__name__) or kind(f"{kind.__name__} happened", id="7") for kind in kinds}


@pytest.mark.parametrize("error", _examples().values(), ids=_examples())
@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_every_error_survives_pickling(error: DulyError, protocol: int) -> None:
    error.add_note("item 3")
    twin = pickle.loads(pickle.dumps(error, protocol))
    assert type(twin) is type(error)
    assert (str(twin), twin.args, vars(twin)) == (str(error), error.args, vars(error))
    assert twin != error, "errors are equal only to themselves"
    assert copy.copy(error).args == error.args


def test_an_error_of_a_server_has_the_fields_too() -> None:
    error = error_of(404, {"code": "SCHEDULE_JOB_NOT_FOUND", "detail": "there is no schedule 'x'", "id": "x"})
    assert (error.path, error.got, error.hint, error.secret) == (None, None, None, False)
    assert error.details == {"id": "x"}
