-- Changes nothing. But who looks at an older moment (REPEATABLE READ), in which the new run is not there, is refused the
-- cursor as 40001, instead of deciding by what he sees.
UPDATE duly.duly_cursors SET fired = fired WHERE schedule_id = ANY (:ids::uuid[])
