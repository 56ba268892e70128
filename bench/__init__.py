"""The benchmark: real server processes, synchronous commits, the machine's limit and the peers in the same run.

``bench.command`` reads the arguments and runs ``bench.cells``, one file per cell. A cell sets up a store and starts
child processes; what happens inside a child is in ``bench.inside``. Peers run in environments of their own
(``bench.peering``, ``bench.peers``). ``bench.report`` keeps the figures, compares them and prints tables.

A benchmark is never a test: nothing here passes or fails, it only counts.
"""
