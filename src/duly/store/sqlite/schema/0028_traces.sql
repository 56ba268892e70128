-- Who asked for a run or a schedule may have been traced: the W3C context, kept until the row is purged.
CREATE TABLE duly_traces (
    id    TEXT PRIMARY KEY,
    trace TEXT NOT NULL
) STRICT, WITHOUT ROWID;
