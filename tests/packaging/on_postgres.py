"""Run a command on an empty PostgreSQL database: `python -m tests.packaging.on_postgres FOLDER COMMAND…`."""

import os
import subprocess
import sys
from contextlib import ExitStack

from tests.databases import fresh_database
from tests.servers import postgres_server


def main(folder: str, *command: str) -> int:
    with ExitStack() as stack:
        server = os.environ.get("DULY_TEST_POSTGRES_URL") or stack.enter_context(postgres_server()).url
        url = stack.enter_context(fresh_database(server))
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        return subprocess.run(command, cwd=folder, env={**environment, "SMOKE_POSTGRES_URL": url}).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
