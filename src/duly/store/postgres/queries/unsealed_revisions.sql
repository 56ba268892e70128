-- What is not as the first key would have it: sealed with another, or not at all. Of definitions only those are sealed
-- whose target has a secret or headers.
SELECT schedule_id::text, revision, payload, body
FROM duly.duly_revisions
WHERE (schedule_id, revision) > (:after_schedule_id::uuid, :after_revision::int) AND (
    starts_with(payload, :head::text) <> :sealed::bool
    OR (starts_with(body, '$duly1$') AND starts_with(body, :head::text) <> :sealed::bool)
    OR (:sealed::bool AND starts_with(body, '{')
        AND (strpos(body, '\"secret\":') > 0 OR strpos(body, '\"headers\":') > 0))
)
ORDER BY schedule_id, revision
LIMIT :limit::bigint
