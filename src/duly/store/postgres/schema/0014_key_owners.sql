-- Keys are their owner's: what somebody runs under a key holds up nobody else, and tells nobody else of it.
ALTER TABLE duly_lanes ADD COLUMN owner text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE duly_uniques ADD COLUMN owner text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE duly_uniques DROP CONSTRAINT duly_uniques_pkey;
ALTER TABLE duly_uniques ADD PRIMARY KEY (tenant, owner, key);
