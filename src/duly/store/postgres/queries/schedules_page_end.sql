-- Unprepared: what is asked for decides the plan.
-- Where a page that looks at so many schedules ends; nothing if there are fewer. An owner has few, and an index.
-- Differs from sqlite: no index has those of a tenant in order. Few of a tenant or a job are walked without an end, and
-- many as if all were.
SELECT id::text FROM (
    SELECT s.id FROM duly.duly_schedules AS s
    WHERE :owner::text IS NULL AND (:tenant::text IS NULL OR :job::text IS NULL)
      AND (:after::uuid IS NULL OR s.id > :after::uuid)
      AND (coalesce(:tenant::text, :job::text) IS NULL OR :most::bigint < (SELECT count(*) FROM (
        SELECT FROM duly.duly_tenants AS t CROSS JOIN LATERAL (
            SELECT FROM duly.duly_schedules AS j
            WHERE j.tenant = t.id AND j.deleted_at IS NULL AND (:job::text IS NULL OR j.job = :job::text)
            LIMIT :most::bigint + 1) AS of_tenant
        WHERE :tenant::text IS NULL OR t.id = :tenant::text
        LIMIT :most::bigint + 1) AS asked))
    ORDER BY s.id LIMIT 1 OFFSET :most::bigint) AS of_all
UNION ALL
SELECT id::text FROM (
    SELECT s.id FROM duly.duly_schedules AS s
    WHERE :owner::text IS NULL AND s.tenant = :tenant::text AND s.job = :job::text AND s.deleted_at IS NULL
      AND (:after::uuid IS NULL OR s.id > :after::uuid)
    ORDER BY s.id LIMIT 1 OFFSET :most::bigint) AS of_job
