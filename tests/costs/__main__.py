"""Measure what operations cost and compare it with the table; run by ``scripts/costs``."""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from contextlib import closing
from pathlib import Path

from tests.costs.measuring import Measured, measure_postgres, measure_sqlite
from tests.costs.operations import OPERATIONS
from tests.costs.table import PATH, STORES, difference, merged, read_table, write_table
from tests.databases import ReadyDatabases
from tests.servers import ServerAbsent, postgres_server


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/costs", description=__doc__)
    parser.add_argument("operations", nargs="*", metavar="OPERATION", help=f"some of {', '.join(OPERATIONS)} (all)")
    parser.add_argument("--store", choices=STORES, action="append", help="one store (both)")
    parser.add_argument("--write", action="store_true", help="write what was measured into the table")
    parser.add_argument("--statements", action="store_true", help="also print the statements that are sent")
    given = parser.parse_args()
    if unknown := set(given.operations) - OPERATIONS.keys():
        parser.error(f"unknown {', '.join(sorted(unknown))}; expected some of {', '.join(OPERATIONS)}")
    names, stores = given.operations or [*OPERATIONS], given.store or STORES
    before = read_table() if PATH.exists() else {}
    table = {store: dict(before.get(store, {})) for store in STORES}
    differences = []
    for store in stores:
        for name, measured in measure_all(store, names).items():
            expected = table[store].get(name)
            print(f"{store:8}  {name:25}  {'  '.join(f'{key} {value}' for key, value in measured.figures.items())}")
            if given.statements:
                print(*(f"          {statement}" for statement in measured.summary()), sep="\n")
            if changed := difference(name, store, expected or {}, measured.figures):
                differences.append(changed)
            table[store][name] = merged(expected, measured.figures)
    print(*differences, sep="\n")
    if given.write:
        write_table({store: {name: rows[name] for name in OPERATIONS if name in rows} for store, rows in table.items()})
        return 0
    return 1 if differences else 0


def measure_all(store: str, names: list[str]) -> dict[str, Measured]:
    """Measure on one store; each operation on a database of its own."""
    if store == "sqlite":
        with tempfile.TemporaryDirectory() as folder:
            return {name: asyncio.run(measure_sqlite(name, _new_folder(folder, name))) for name in names}
    try:
        with postgres_server() as server, closing(ReadyDatabases(server.url)) as databases:
            template = databases.template()
            return {name: asyncio.run(measure_postgres(name, server.url, template)) for name in names}
    except ServerAbsent as absent:
        sys.exit(f"{absent}; --store sqlite needs none")


def _new_folder(folder: str, name: str) -> Path:
    path = Path(folder, name)
    path.mkdir()
    return path


if __name__ == "__main__":
    sys.exit(main())
