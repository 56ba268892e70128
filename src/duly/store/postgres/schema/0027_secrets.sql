-- What the store alone knows: tokens that are handed out are signed with it.
CREATE TABLE duly_secrets (
    name  text COLLATE "C" PRIMARY KEY,
    value text NOT NULL
);

INSERT INTO duly_secrets VALUES ('hooks', gen_random_uuid()::text || gen_random_uuid()::text);
