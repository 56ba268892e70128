"""What is kept of an exception: its type, its place in the app, and a bounded stack with causes, groups and notes."""

from __future__ import annotations

import json

import pytest

from duly.core.failure import MAX_STACK, ErrorReport
from duly.engine.error_reports import NOT_REDACTED, redact_text, report_of
from duly.engine.outcomes import failure_of


class VendorError(Exception):
    pass


def charge(depth: int = 0) -> None:
    secret = "local-variable"
    if depth:
        charge(depth - 1)
    raise VendorError(f"HTTP 503 {len(secret)}")


def raised_by(call, *args) -> BaseException:
    with pytest.raises(BaseException) as caught:
        call(*args)
    return caught.value


def test_a_report_has_the_type_the_line_of_the_app_and_the_cause() -> None:
    def book() -> None:
        try:
            charge()
        except VendorError as error:
            error.add_note("order 17")
            raise RuntimeError("not booked") from error

    report = report_of(raised_by(book))
    assert report.type == "RuntimeError"
    assert report.location is not None
    assert report.location.endswith("book")
    assert "test_error_reports.py:" in report.location
    assert report.stack is not None
    for part in ("VendorError: HTTP 503", "order 17", "direct cause", "RuntimeError: not booked", "in charge"):
        assert part in report.stack
    assert "local-variable" not in report.stack.replace('secret = "local-variable"', "")
    assert not report.truncated


def test_a_report_names_a_type_of_a_module_by_its_qualified_name() -> None:
    assert report_of(raised_by(charge)).type == f"{__name__}.VendorError"


def test_a_report_of_a_group_has_the_stacks_of_its_exceptions() -> None:
    def both() -> None:
        raise BaseExceptionGroup("two", [raised_by(charge), ValueError("second")])

    report = report_of(raised_by(both))
    assert report.stack is not None
    assert "VendorError: HTTP 503" in report.stack
    assert "ValueError: second" in report.stack


def test_the_location_is_in_the_app_even_if_a_library_raised() -> None:
    def parse() -> None:
        json.loads("{")

    report = report_of(raised_by(parse))
    assert report.type == "json.decoder.JSONDecodeError"
    assert report.location is not None
    assert report.location.endswith("parse")


def test_a_long_stack_keeps_frames_of_the_app_before_frames_of_libraries() -> None:
    frames = 60

    def decode(level: int) -> object:
        # Each level goes through a library, so that the two kinds of frames alternate.
        hook = lambda found: decode(level - 1) if level else charge()
        return json.loads('{"a": 1}', object_hook=hook)

    report = report_of(raised_by(decode, frames))
    assert report.truncated
    assert report.stack is not None
    assert len(report.stack.encode()) <= MAX_STACK
    assert "frames of libraries left out" in report.stack
    assert "json/decoder.py" not in report.stack
    assert "in charge" in report.stack
    assert report.stack.rstrip().endswith("VendorError: HTTP 503 14")


def test_a_stack_of_the_app_alone_is_cut_in_its_middle() -> None:
    def many(level: int) -> None:
        return [lambda: many(level - 1), charge][level == 0]()

    def other(level: int) -> None:
        return many(level) if level % 2 else other(level + 1)

    report = report_of(raised_by(other, 400))
    assert report.stack is not None
    assert len(report.stack.encode()) <= MAX_STACK
    assert report.stack.rstrip().endswith("VendorError: HTTP 503 14")
    assert report.truncated


def test_a_huge_message_is_cut() -> None:
    report = report_of(ValueError("x" * 100_000 + "end"))
    assert report.stack is not None
    assert len(report.stack.encode()) <= MAX_STACK
    assert report.stack.rstrip().endswith("end")
    assert report.truncated


def test_an_exception_that_cannot_be_described_still_has_a_type() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no words")

    report = report_of(Mute())
    assert report.type is not None
    assert report.type.endswith("Mute")


def test_redaction_covers_the_message_and_the_stack() -> None:
    hide = lambda text: text.replace("HTTP 503", "[hidden]")
    failed = failure_of(raised_by(charge), hide)
    assert failed.error == "VendorError: [hidden] 14"
    assert failed.report is not None
    assert failed.report.stack is not None
    assert "503 14" not in failed.report.stack
    assert "[hidden] 14" in failed.report.stack


def test_a_redaction_that_fails_keeps_nothing() -> None:
    def broken(text: str) -> str:
        raise KeyError("oops")

    assert redact_text("password=1", broken) == NOT_REDACTED
    failed = failure_of(raised_by(charge), broken)
    assert failed.error == NOT_REDACTED
    assert failed.report is not None
    assert failed.report.stack == NOT_REDACTED


def test_an_empty_report_has_nothing() -> None:
    assert ErrorReport() == ErrorReport(type=None, location=None, stack=None, truncated=False)
