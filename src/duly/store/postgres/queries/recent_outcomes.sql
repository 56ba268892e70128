-- Of each schedule how its newest runs ended, the newest first, and how many are open; no more than are asked for.
SELECT
    s.id::text,
    (SELECT string_agg(newest.status, ',' ORDER BY newest.id DESC) FROM (
        SELECT h.id, h.status FROM duly.duly_history AS h WHERE h.schedule_id = s.id ORDER BY h.id DESC LIMIT :each::bigint
    ) AS newest),
    (SELECT count(*) FROM (SELECT FROM duly.duly_runs AS r WHERE r.schedule_id = s.id LIMIT :each::bigint) AS open)
FROM duly.duly_schedules AS s
WHERE s.id = ANY (:ids::uuid[])
  AND (:tenant::text IS NULL OR s.tenant = :tenant::text) AND (:owner::text IS NULL OR s.owner = :owner::text)
