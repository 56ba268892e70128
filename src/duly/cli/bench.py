"""``duly bench``: the benchmark of a source checkout, with this interpreter."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click


@click.command(
    name="bench",
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []},
    help="Measure duly, the machine's own limit and the peers; `duly bench --help` lists what.",
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(arguments: tuple[str, ...]) -> None:
    root = find_checkout()
    if root is None:
        raise click.ClickException(
            "the benchmark is not part of the installed package; run it in a checkout of the source: scripts/bench"
        )
    sys.exit(subprocess.run([sys.executable, "-m", "bench", *arguments], cwd=root, check=False).returncode)


def find_checkout() -> Path | None:
    """The source folder: the one we stand in, or the one this package was installed from as it is."""
    places = (Path.cwd(), Path(__file__).resolve().parents[3])
    return next((place for place in places if (place / "bench" / "__main__.py").exists()), None)
