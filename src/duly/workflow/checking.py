"""What would differ in a replay, found in the text of a body before it runs: clocks, random values, I/O.

It reads names, so it finds what is written plainly in the body and in the functions nested in it. What hides behind a
helper is refused by the loop when it runs, or shows as a record that does not fit. Functions that are given to
``ctx.step`` and ``ctx.side_effect`` may do all of it.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

STEP = "do it in a step: await ctx.step(...)"
_ADVICE = {
    "time.time": "use ctx.now()",
    "time.time_ns": "use ctx.now()",
    "time.monotonic": "use ctx.now()",
    "time.perf_counter": "use ctx.now()",
    "time.sleep": "use await ctx.sleep(...)",
    "asyncio.sleep": "use await ctx.sleep(...)",
    "asyncio.wait_for": "use the timeout= of a step or a wait",
    "asyncio.timeout": "use the timeout= of a step or a wait",
    "asyncio.to_thread": STEP,
    "datetime.datetime.now": "use ctx.now()",
    "datetime.datetime.utcnow": "use ctx.now()",
    "datetime.datetime.today": "use ctx.now()",
    "datetime.date.today": "use ctx.now().date()",
    "uuid.uuid1": "use ctx.uuid()",
    "uuid.uuid4": "use ctx.uuid()",
    "os.urandom": "use ctx.random() or ctx.uuid()",
    "os.getenv": "use ctx.side_effect(...)",
    "builtins.open": STEP,
    "builtins.input": STEP,
    "builtins.print": "use a step's log, or logging",
}
_ROOMS = {
    "random": "use ctx.random()",
    "secrets": "use ctx.uuid()",
    **dict.fromkeys(("socket", "subprocess", "requests", "httpx", "urllib", "aiohttp", "threading", "shutil"), STEP),
}
_DONE_ELSEWHERE = frozenset({"step", "side_effect", "transaction", "task"})


@dataclass(frozen=True, slots=True)
class Finding:
    """One call in a body that a replay would not repeat."""

    workflow: str
    file: str
    line: int
    call: str
    advice: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: workflow {self.workflow!r} calls {self.call}; {self.advice}"


def check_body(name: str, function: Callable[..., Any]) -> list[Finding]:
    """What is wrong in the body of a workflow; nothing if its text cannot be had."""
    try:
        lines, first = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError):
        return []
    file = inspect.getsourcefile(function) or "?"
    known = {**vars(builtins), **getattr(function, "__globals__", {}), **_enclosed(function)}
    found = []
    for node in _calls(tree):
        called = _called(node.func, known)
        advice = None if called is None else _ADVICE.get(called) or _ROOMS.get(called.partition(".")[0])
        if called is not None and advice is not None:
            found.append(Finding(name, file, first + node.lineno - 1, called.removeprefix("builtins."), advice))
    return found


def _calls(tree: ast.AST) -> Iterator[ast.Call]:
    """The calls that the body itself makes, not those of functions that it hands to a step."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.Call):
            yield child
            if isinstance(child.func, ast.Attribute) and child.func.attr in _DONE_ELSEWHERE:
                given = [*child.args, *(word.value for word in child.keywords)]
                for value in given:
                    if not isinstance(value, ast.Lambda):
                        yield from _calls(ast.Expression(value)) if isinstance(value, ast.expr) else ()
                continue
        yield from _calls(child)


def _called(func: ast.expr, known: dict[str, Any]) -> str | None:
    """The full name of what is called, as far as names say: ``datetime.datetime.now``."""
    parts: list[str] = []
    while isinstance(func, ast.Attribute):
        parts.append(func.attr)
        func = func.value
    if not isinstance(func, ast.Name) or func.id not in known:
        return None
    value = known[func.id]
    if isinstance(value, ModuleType):
        head = value.__name__
    elif getattr(builtins, func.id, None) is value:
        head = f"builtins.{func.id}"
    else:
        head = f"{getattr(value, '__module__', None)}.{getattr(value, '__qualname__', '')}"
    return ".".join([head, *reversed(parts)]).replace("posix.", "os.")


def _enclosed(function: Callable[..., Any]) -> dict[str, Any]:
    names = getattr(getattr(function, "__code__", None), "co_freevars", ())
    cells = getattr(function, "__closure__", None) or ()
    found: dict[str, Any] = {}
    for name, cell in zip(names, cells, strict=False):
        try:
            found[name] = cell.cell_contents
        except ValueError:
            continue  # a name that is bound later
    return found
