DELETE FROM duly.duly_dead_handlers WHERE job = ANY (:jobs::text[])
