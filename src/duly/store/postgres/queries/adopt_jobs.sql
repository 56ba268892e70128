UPDATE duly_runs SET hold = 0 WHERE hold = 2 AND job = ANY (:jobs::text[])
