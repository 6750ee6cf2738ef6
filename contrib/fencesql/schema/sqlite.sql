-- The table of guard rows: one row for each resource.
CREATE TABLE fence (
	resource    TEXT    PRIMARY KEY,
	fence_token INTEGER NOT NULL DEFAULT 0,
	fence_owner TEXT    NOT NULL DEFAULT ''
);

-- The same two columns in a table whose rows are the resources:
--	ALTER TABLE account ADD COLUMN fence_token INTEGER NOT NULL DEFAULT 0;
--	ALTER TABLE account ADD COLUMN fence_owner TEXT    NOT NULL DEFAULT '';
