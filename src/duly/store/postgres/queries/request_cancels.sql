UPDATE duly.duly_runs SET cancel_at = :now::bigint WHERE id = ANY (:id::uuid[]) AND cancel_at IS NULL
