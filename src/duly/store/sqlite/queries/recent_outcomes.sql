-- Of each schedule how its newest runs ended, the newest first, and how many are open; no more than are asked for.
SELECT
    s.id,
    (SELECT group_concat(status, ',') FROM (
        SELECT h.status FROM duly_history AS h WHERE h.schedule_id = s.id ORDER BY h.id DESC LIMIT :each
    )),
    (SELECT count(*) FROM (SELECT 1 FROM duly_runs AS r WHERE r.schedule_id = s.id LIMIT :each))
FROM duly_schedules AS s
WHERE s.id IN (SELECT value FROM json_each(:ids))
  AND (:tenant IS NULL OR s.tenant = :tenant) AND (:owner IS NULL OR s.owner = :owner)
