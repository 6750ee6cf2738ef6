-- The table of guard rows: one row for each resource.
CREATE TABLE fence (
	resource    varchar(255) PRIMARY KEY,
	fence_token bigint       NOT NULL DEFAULT 0,
	fence_owner varchar(512) NOT NULL DEFAULT ''
) ENGINE = InnoDB;

-- The same two columns in a table whose rows are the resources:
--	ALTER TABLE account
--		ADD COLUMN fence_token bigint       NOT NULL DEFAULT 0,
--		ADD COLUMN fence_owner varchar(512) NOT NULL DEFAULT '';
