"""Runs that go on as others: the new one is what the old one was, from the moment on in which that ends.

It is one transaction with that end, so there is always one of them: in a lane, among the open runs of a schedule, below
a parent, and for those who send messages.
"""

from __future__ import annotations

from collections.abc import Sequence

from duly.core.run import Continued
from duly.store.statements import Batch, Program, Query, batch, columns, group, query

from .stepping import MESSAGE

HEIR = -1
"""The position of the runs that one has gone on as, which nobody had asked for below another."""


def inherit(now: int, heirs: Sequence[tuple[str, Continued]]) -> Program[None]:
    """Put new runs in the places of those, by id, that are about to end; whoever calls this has locked these."""
    rows = [(old, new.heir, new.job, new.payload) for old, new in heirs]
    made = yield batch("insert_heirs", columns(("old", "id", "job", "payload"), rows), now=now)
    new_ids = {row[0] for row in made}
    links = columns(("run_id", "parent_id"), [(new.heir, old) for old, new in heirs])
    first = columns(("run_id", "parent_id", "position"), [(new.heir, old, HEIR) for old, new in heirs])
    writes: list[Query | Batch] = [
        batch("inherit_children", links),
        batch("insert_children", first),
        batch("inherit_marks", links),
        query("leave_parents", ids=sorted(old for old, _ in heirs)),
        batch("adopt_owners", links),
    ]
    named = {old: new.heir for old, new in heirs if new.heir in new_ids}
    left = yield query("left_messages", ids=sorted(named))
    if left:
        moved = [(named[old], *message) for old, *message in left]
        writes.append(batch("put_messages", columns(MESSAGE, moved), now=now))
        writes.append(batch("take_messages", columns(("run_id", "n"), [row[:2] for row in left])))
    yield group(*writes)
