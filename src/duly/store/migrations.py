"""What both dialects check before they touch a database: the migrations it has are those in the code.

``duly_migrations`` holds a row per applied migration with a checksum of its text. A database without that table was set
up by a development version of duly, before the first release, and cannot be upgraded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from duly.core.errors import SchemaMismatch

TABLE = "duly_migrations"
META_COLUMNS = frozenset({"store_id", "epoch", "schema"})
"""Columns of ``duly_meta`` that tell duly's tables from tables of others with the same prefix."""

_COMMENT = re.compile(r"--[^\n]*")


@dataclass(frozen=True, slots=True)
class Place:
    """A database in the words of an error: its name, what to do to have an empty one, and the path of a file."""

    name: str
    advice: str
    path: str | None = None

    def reject_foreign(self, tables: Sequence[str]) -> SchemaMismatch:
        return SchemaMismatch(
            f"{self.name}: it has tables named like duly's that duly did not create ({', '.join(tables)});"
            f" {self.advice}",
            path=self.path,
            expected="tables that duly created, or none",
            got=list(tables),
            hint=self.advice,
            tables=list(tables),
        )

    def reject_development(self, found: str) -> SchemaMismatch:
        return SchemaMismatch(
            f"{self.name}: {found} was created by an unreleased development version of duly, which no version upgrades;"
            f" {self.advice}",
            path=self.path,
            expected="a database of a released version, or an empty one",
            got=found,
            hint=self.advice,
        )

    def needs_upgrade(self, version: int, newest: int) -> SchemaMismatch:
        return SchemaMismatch(
            f"{self.name} has schema {version}, this version needs schema {newest}; run `duly db migrate`",
            path=self.path,
            expected=f"schema {newest}",
            got=version,
            hint="run `duly db migrate`",
            found=version,
            known=newest,
        )

    def check(self, version: int, applied: Mapping[int, str], known: Mapping[int, str]) -> None:
        """Raise SchemaMismatch for a schema newer than ``known``, and for applied migrations that are other ones.

        ``applied`` are checksums by number, ``known`` the texts of the migrations in the code.
        """
        newest = max(known)
        if version > newest:
            raise SchemaMismatch(
                f"{self.name} has schema {version}, created by a newer duly; this version knows schema {newest}:"
                " install the newer duly",
                path=self.path,
                expected=f"schema {newest} or older",
                got=version,
                hint="install the newer duly",
                found=version,
                known=newest,
            )
        for number in range(1, version + 1):
            if (found := applied.get(number)) != (ours := checksum(known[number])):
                raise SchemaMismatch(
                    f"{self.name}: migration {number} has checksum {(found or 'none')[:12]}, in this version of duly it"
                    f" has {ours[:12]}: a development version created the database, or somebody changed the migration;"
                    f" {self.advice}",
                    path=self.path,
                    expected=ours,
                    got=found,
                    hint=self.advice,
                    migration=number,
                )


def checksum(script: str) -> str:
    """Return the checksum of a migration; comments and white space do not count."""
    return sha256(" ".join(_COMMENT.sub("", script).split()).encode()).hexdigest()
