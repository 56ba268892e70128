UPDATE duly_meta SET schema = :schema
