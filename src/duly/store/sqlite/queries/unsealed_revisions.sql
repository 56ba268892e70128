-- What is not as the first key would have it: sealed with another, or not at all. Of definitions only those are sealed
-- whose target has a secret or headers.
SELECT schedule_id, revision, payload, body
FROM duly_revisions
WHERE (schedule_id, revision) > (:after_schedule_id, :after_revision) AND (
    (substr(payload, 1, length(:head)) = :head) <> :sealed
    OR (substr(body, 1, 7) = '$duly1$' AND (substr(body, 1, length(:head)) = :head) <> :sealed)
    OR (:sealed AND substr(body, 1, 1) = '{' AND (instr(body, '\"secret\":') > 0 OR instr(body, '\"headers\":') > 0))
)
ORDER BY schedule_id, revision
LIMIT :limit
