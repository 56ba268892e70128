-- Who may call. A key is never removed: one that was revoked is known as such, and the API stays closed.
CREATE TABLE duly_keys (
    id           text COLLATE "C" NOT NULL PRIMARY KEY,
    digest       text COLLATE "C" NOT NULL,
    name         text COLLATE "C" NOT NULL,
    owner        text COLLATE "C",
    tenant       text COLLATE "C" NOT NULL,
    scopes       text COLLATE "C" NOT NULL,
    quotas       text,
    created_at   bigint NOT NULL,
    created_by   text,
    expires_at   bigint,
    revoked_at   bigint,
    last_used_at bigint,
    replaces     text COLLATE "C"
);

-- The owners of runs that no schedule made; the others belong to the owner of their schedule.
CREATE TABLE duly_owners (
    run_id uuid NOT NULL PRIMARY KEY,
    owner  text COLLATE "C" NOT NULL
);

CREATE VIEW duly_owned_runs (id, tenant, owner) AS
SELECT r.id, r.tenant, coalesce(o.owner, s.owner) FROM duly_runs AS r
LEFT JOIN duly_schedules AS s ON s.id = r.schedule_id
LEFT JOIN duly_owners AS o ON o.run_id = r.id
UNION ALL
SELECT h.id, h.tenant, coalesce(o.owner, s.owner) FROM duly_history AS h
LEFT JOIN duly_schedules AS s ON s.id = h.schedule_id
LEFT JOIN duly_owners AS o ON o.run_id = h.id;

ALTER TABLE duly_operations ADD COLUMN tenant text COLLATE "C", ADD COLUMN owner text COLLATE "C";
CREATE INDEX duly_operations_owner ON duly_operations (tenant, owner, id) WHERE owner IS NOT NULL;
