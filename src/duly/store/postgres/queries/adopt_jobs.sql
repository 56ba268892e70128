UPDATE duly_runs SET hold = 0
WHERE hold = 2 AND (job = ANY (:jobs::text[]) OR (job LIKE 'topic:%' AND 'topic:*' = ANY (:jobs::text[])))
