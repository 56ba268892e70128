SELECT meta.schema, m.number, m.checksum
FROM duly.duly_meta AS meta
LEFT JOIN duly.duly_migrations AS m ON true
