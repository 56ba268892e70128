-- What runs of workflows are found by: tags (their name begins with #) and attributes, whose value is JSON.
CREATE TABLE duly_marks (
    run_id TEXT NOT NULL,
    name   TEXT NOT NULL,
    value  TEXT NOT NULL,
    PRIMARY KEY (run_id, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX duly_marks_value ON duly_marks (name, value, run_id);
CREATE INDEX duly_marks_name ON duly_marks (name, run_id);
