"""The cells, one file each: ``run(bench)`` measures it on every store that was asked for."""
