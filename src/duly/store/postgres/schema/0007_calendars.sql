-- Named sets of dates on which nothing fires. The id tells a calendar from one that had its name before.
CREATE TABLE duly_calendars (
    tenant      text COLLATE "C" NOT NULL,
    name        text COLLATE "C" NOT NULL,
    id          uuid NOT NULL UNIQUE,
    description text,
    body        text NOT NULL,
    revision    int NOT NULL,
    created_at  bigint NOT NULL,
    created_by  text,
    updated_at  bigint NOT NULL,
    updated_by  text,
    PRIMARY KEY (tenant, name)
);

-- The names that a schedule's present definition says, as JSON; NULL for nearly all, who say none.
ALTER TABLE duly_schedules ADD COLUMN calendars text;
CREATE INDEX duly_schedules_calendars ON duly_schedules (tenant) WHERE calendars IS NOT NULL AND ended_at IS NULL;
