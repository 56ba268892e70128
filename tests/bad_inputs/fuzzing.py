"""schemathesis against a served process: what the document allows is answered as it says, and the rest is refused.

``scripts/fuzz`` runs this with many cases on both stores; the test suite with few.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from duly import Duly
from tests.databases import fresh_database
from tests.serve.serving import Served, environment
from tests.servers import ServerAbsent, postgres_server

# What is valid by the document may still be refused: a cron expression that never fires, two timings, a key reused.
LEFT_OUT = "positive_data_acceptance"
STREAM = "/api/v1/events"
WORKERS = "/worker/"
WAITS = "/api/v1/worker/claim"
# A head that is too long is refused before anybody looks at what is in it.
CONFIG = "[checks.negative_data_rejection]\nexpected-statuses = ['4xx', '5xx']\n"
_CASES = re.compile(r"^\s*(\d+) generated", re.MULTILINE)


@dataclass(frozen=True)
class Outcome:
    """How a run ended: what it said, how many cases it made, and what the server wrote meanwhile."""

    ok: bool
    said: str
    cases: int
    log: str
    grown: int

    @property
    def sound(self) -> bool:
        return self.ok and "nobody foresaw" not in self.log and self.grown < 100_000_000


def fuzz(folder: Path, url: str, *, seed: int, max_examples: int, phases: str) -> Outcome:
    """Ask one server on one database, until schemathesis has no more to ask: first as an admin, then as a worker."""
    (folder / "schemathesis.toml").write_text(CONFIG)
    served = Served(folder, "--database-url", url, command="api").ready()
    try:
        # With keys from the start: one that is made on the way would close the API to all that follows.
        with Duly(url).sync as sync:
            admin, worker = [sync.keys.create(scope, scopes=[scope]).text for scope in ("admin", "worker")]
        served.until(lambda: served.status_of("/api/v1/schedules") == 401, "the API")
        before = _memory(served)
        chosen = ("--phases", phases, "--max-examples", str(max_examples), "--seed", str(seed))
        done = [
            _ask(folder, served.url, admin, *chosen, "--exclude-path", STREAM, "--exclude-path-regex", WORKERS),
            _ask(folder, served.url, worker, *chosen, "--include-path-regex", WORKERS, "--exclude-path", WAITS),
        ]
        said = "\n".join(one.stdout + one.stderr for one in done)
        alive = served.status_of("/livez") == served.status_of("/readyz") == 200
        return Outcome(
            alive and not any(one.returncode for one in done),
            said,
            sum(map(int, _CASES.findall(said))),
            served.said(),
            _memory(served) - before,
        )
    finally:
        served.close()


def _ask(folder: Path, url: str, key: str, *chosen: str) -> "subprocess.CompletedProcess[str]":
    command = [str(Path(sys.executable).with_name("st")), "run", f"{url}/openapi.json"]
    checks = ["--checks", "all", "--exclude-checks", LEFT_OUT, "--suppress-health-check", "all", "--warnings", "off"]
    who = ["--header", f"Authorization: Bearer {key}", "--request-timeout", "60"]
    return subprocess.run(
        [*command, *who, *checks, "--continue-on-failure", "--no-color", *chosen],
        cwd=folder,
        env=environment(PYTHONHASHSEED="0"),  # a seed repeats a run only with it
        capture_output=True,
        text=True,
        check=False,
    )


def _memory(served: Served) -> int:
    status = Path(f"/proc/{served.process.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) * 1024


def main() -> int:
    parser = argparse.ArgumentParser(description="Ask a served API what its document allows, and what it does not.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--max-examples", type=int, default=60, help="cases of each operation and phase")
    parser.add_argument("--phases", default="examples,coverage,fuzzing,stateful")
    chosen = parser.parse_args()
    options = {"seed": chosen.seed, "max_examples": chosen.max_examples, "phases": chosen.phases}
    outcomes: dict[str, Outcome] = {}
    with tempfile.TemporaryDirectory() as folder:
        outcomes["sqlite"] = fuzz(Path(folder), f"sqlite:///{folder}/x.db", **options)
    try:
        with (
            tempfile.TemporaryDirectory() as folder,
            postgres_server() as server,
            fresh_database(server.url) as url,
        ):
            outcomes["postgres"] = fuzz(Path(folder), url, **options)
    except ServerAbsent as absent:
        print(absent)
    for name, outcome in outcomes.items():
        if not outcome.sound:
            print(outcome.said, outcome.log[-5000:], sep="\n")
        word = "sound" if outcome.sound else "NOT SOUND"
        print(f"{name}: {outcome.cases} cases, seed {chosen.seed}, memory {outcome.grown / 1e6:+.0f} MB: {word}")
    return 0 if all(outcome.sound for outcome in outcomes.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
