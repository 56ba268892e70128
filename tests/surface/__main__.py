"""The command line of ``scripts/surface``."""

from __future__ import annotations

from collections.abc import Sequence

import click

from tests.surface.diff import Difference, differences, report
from tests.surface.files import SURFACES, derive, read, read_at, read_here, write


@click.command()
@click.argument("old", required=False, metavar="[REV]")
@click.argument("new", required=False, metavar="[REV]")
@click.option("--write", "rewrite", is_flag=True, help="Rewrite the files.")
def main(old: str | None, new: str | None, rewrite: bool) -> None:
    """Compare the public surface that is committed under tests/surface/.

    With two revisions, compare their files. With one, compare its files with the working tree. Without a revision,
    compare the files with the program; the exit code is 1 if they differ.
    """
    if rewrite:
        if old:
            raise click.UsageError("--write takes no revision")
        written = [surface for surface in SURFACES if write(surface)]
        click.echo("\n".join(f"wrote tests/surface/{surface}.json" for surface in written) or "nothing has changed")
    elif old:
        try:
            before, after = read_at(old), read_at(new) if new else read_here()
        except LookupError as error:
            raise click.ClickException(str(error)) from None
        _print([*differences(before, after)], "no difference")
    else:
        committed, derived = ({name: take(name) for name in SURFACES} for take in (read, derive))
        found = [*differences(committed, derived)]
        _print(found, "the files match the program")
        raise SystemExit(bool(found))


def _print(found: Sequence[Difference], otherwise: str) -> None:
    click.echo("\n".join(report(found)) or otherwise)


if __name__ == "__main__":
    main(prog_name="scripts/surface")
