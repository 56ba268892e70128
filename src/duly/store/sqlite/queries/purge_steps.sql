DELETE FROM duly_marks WHERE run_id IN (SELECT value FROM json_each(:ids));
DELETE FROM duly_inbox WHERE run_id IN (SELECT value FROM json_each(:ids));
DELETE FROM duly_published WHERE run_id IN (SELECT value FROM json_each(:ids));
DELETE FROM duly_children WHERE run_id IN (SELECT value FROM json_each(:ids));
DELETE FROM duly_steps WHERE run_id IN (SELECT value FROM json_each(:ids))
