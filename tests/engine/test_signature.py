"""The payload is the signature: what annotations say of a payload, also those that only a type checker can read."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import pytest

import duly
from duly.core.errors import ValidationFailed
from duly.engine.job import Job
from duly.engine.signature import arguments_of

if TYPE_CHECKING:
    from duly import RunContext


def test_an_annotation_that_cannot_be_resolved_leaves_the_others_alone(caplog: pytest.LogCaptureFixture) -> None:
    @dataclass
    class Order:
        id: int

    async def local(ctx: duly.RunContext, order: Order, n: int = 0) -> None: ...

    with caplog.at_level(logging.WARNING):
        arguments = arguments_of("local", local)
    assert arguments.context == "ctx"
    assert arguments.decode({"order": {"id": 1}, "n": 2}) == {"order": {"id": 1}, "n": 2}
    with pytest.raises(ValidationFailed, match="'n' = 'x'"):
        arguments.decode({"order": 1, "n": "x"})
    (record,) = caplog.records
    assert "job 'local': the annotation of 'order' is 'Order'" in record.getMessage()


def test_a_context_that_is_imported_for_type_checkers_only_is_the_context(caplog: pytest.LogCaptureFixture) -> None:
    async def plain(ctx: RunContext, n: int) -> None: ...

    async def quoted(n: int, ctx: "RunContext") -> None: ...  # noqa: UP037 - as people write it

    for function in (plain, quoted):
        arguments = arguments_of("work", function)
        assert (arguments.context, list(arguments.fields)) == ("ctx", ["n"])
        with pytest.raises(ValidationFailed, match="'n' = 'x'"):
            arguments.decode({"n": "x"})
    assert caplog.records == []


def test_annotations_are_resolved_where_a_wrapped_function_is_from(caplog: pytest.LogCaptureFixture) -> None:
    def logged(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        return wrapper

    @logged
    def work(ctx: RunContext, n: int) -> None: ...

    arguments = arguments_of("work", work)
    assert (arguments.context, arguments.fields) == ("ctx", {"n": (int, True)})


def test_a_mapping_may_have_keys_that_json_writes_as_text() -> None:
    async def work(m: dict[int, str]) -> None: ...

    arguments = arguments_of("work", work)
    assert arguments.decode({"m": {"1": "a"}}) == {"m": {1: "a"}}
    with pytest.raises(ValidationFailed, match="'m'"):
        arguments.decode({"m": {"x": "a"}})
    job: Job[..., ..., Any] = Job("work", work, arguments)
    assert job.bind(m={1: "a"}).payload == {"m": {"1": "a"}}


def test_the_bounds_of_an_annotation_are_kept() -> None:
    async def work(
        ctx: Annotated[duly.RunContext, "whatever"], n: Annotated[int, msgspec.Meta(ge=1)], note: Annotated[str, "a"]
    ) -> None: ...

    arguments = arguments_of("work", work)
    assert arguments.context == "ctx"
    assert arguments.decode({"n": 1, "note": "x"}) == {"n": 1, "note": "x"}
    with pytest.raises(ValidationFailed, match=r"'n' = 0: Expected `int` >= 1"):
        arguments.decode({"n": 0, "note": "x"})
