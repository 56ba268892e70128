"""The only room that speaks SQL.

A store method is one business transaction, written once as a *program*: a generator that yields named statements and
is sent their rows. The programs live in ``methods/`` and hold all the logic; the two dialects differ only in the text
of the statements (``sqlite/queries``, ``postgres/queries``: same file names, same parameters, same columns) and in the
small drivers that run a program inside a transaction on a thread, inline, or on a connection the caller hands in.

Every program is given ``now``, the store's own clock in epoch ms, read in the same transaction. Every program may be
repeated after an unknown outcome: its rows have ids that were fixed before the first try.
"""
