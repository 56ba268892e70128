-- An id starts with the instant of its window, in hex, and no run ends before that: older ids are the only candidates.
DELETE FROM duly_history
WHERE id IN (
    SELECT id FROM duly_history
    WHERE id < printf('%08x-%04x', :finished_before >> 16, :finished_before & 65535)
      AND finished_at < :finished_before
    ORDER BY id
    LIMIT :limit
)
RETURNING id
