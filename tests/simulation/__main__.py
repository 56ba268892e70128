"""Live through one seed again and show all of it: ``python -m tests.simulation SEED``."""

import sys

from tests.simulation.life import simulate

if __name__ == "__main__":
    sys.stdout.write(f"{simulate(int(sys.argv[1]))}\n")
