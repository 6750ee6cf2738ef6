-- The table of guard rows: one row for each resource.
CREATE TABLE fence (
	resource    text   PRIMARY KEY,
	fence_token bigint NOT NULL DEFAULT 0,
	fence_owner text   NOT NULL DEFAULT ''
);

-- The same two columns in a table whose rows are the resources:
--	ALTER TABLE account
--		ADD COLUMN fence_token bigint NOT NULL DEFAULT 0,
--		ADD COLUMN fence_owner text   NOT NULL DEFAULT '';
