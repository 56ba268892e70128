-- Who may call. A key is never removed: one that was revoked is known as such, and the API stays closed.
CREATE TABLE duly_keys (
    id           TEXT    NOT NULL PRIMARY KEY,
    digest       TEXT    NOT NULL,
    name         TEXT    NOT NULL,
    owner        TEXT,
    tenant       TEXT    NOT NULL,
    scopes       TEXT    NOT NULL,
    quotas       TEXT,
    created_at   INTEGER NOT NULL,
    created_by   TEXT,
    expires_at   INTEGER,
    revoked_at   INTEGER,
    last_used_at INTEGER,
    replaces     TEXT
) STRICT, WITHOUT ROWID;

-- The owners of runs that no schedule made; the others belong to the owner of their schedule.
CREATE TABLE duly_owners (
    run_id TEXT NOT NULL PRIMARY KEY,
    owner  TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE VIEW duly_owned_runs (id, tenant, owner) AS
SELECT r.id, r.tenant, coalesce(o.owner, s.owner) FROM duly_runs AS r
LEFT JOIN duly_schedules AS s ON s.id = r.schedule_id
LEFT JOIN duly_owners AS o ON o.run_id = r.id
UNION ALL
SELECT h.id, h.tenant, coalesce(o.owner, s.owner) FROM duly_history AS h
LEFT JOIN duly_schedules AS s ON s.id = h.schedule_id
LEFT JOIN duly_owners AS o ON o.run_id = h.id;

ALTER TABLE duly_operations ADD COLUMN tenant TEXT;
ALTER TABLE duly_operations ADD COLUMN owner TEXT;
CREATE INDEX duly_operations_owner ON duly_operations (tenant, owner, id) WHERE owner IS NOT NULL;
