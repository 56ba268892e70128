-- What the store alone knows: tokens that are handed out are signed with it.
CREATE TABLE duly_secrets (
    name  TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO duly_secrets VALUES ('hooks', lower(hex(randomblob(32))));
