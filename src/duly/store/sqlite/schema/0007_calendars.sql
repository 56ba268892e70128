-- Named sets of dates on which nothing fires. The id tells a calendar from one that had its name before.
CREATE TABLE duly_calendars (
    tenant      TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    id          TEXT    NOT NULL UNIQUE,
    description TEXT,
    body        TEXT    NOT NULL,
    revision    INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    created_by  TEXT,
    updated_at  INTEGER NOT NULL,
    updated_by  TEXT,
    PRIMARY KEY (tenant, name)
) STRICT, WITHOUT ROWID;

-- The names that a schedule's present definition says, as JSON; NULL for nearly all, who say none.
ALTER TABLE duly_schedules ADD COLUMN calendars TEXT;
CREATE INDEX duly_schedules_calendars ON duly_schedules (tenant) WHERE calendars IS NOT NULL AND ended_at IS NULL;
