WITH messages AS (
    DELETE FROM duly.duly_inbox WHERE run_id = ANY (:ids::uuid[])
), published AS (
    DELETE FROM duly.duly_published WHERE run_id = ANY (:ids::uuid[])
), marks AS (
    DELETE FROM duly.duly_marks WHERE run_id = ANY (:ids::uuid[])
), children AS (
    DELETE FROM duly.duly_children WHERE run_id = ANY (:ids::uuid[])
)
DELETE FROM duly.duly_steps WHERE run_id = ANY (:ids::uuid[])
