UPDATE duly_runs SET attempt = 1, job = coalesce(:job, job)
WHERE id = :id
