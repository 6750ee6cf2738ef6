-- The table of guard rows: one row for each resource. A collation of words would take
-- "Bank" and "bank" for one resource.
CREATE TABLE fence (
	resource    varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin PRIMARY KEY,
	fence_token bigint       NOT NULL DEFAULT 0,
	fence_owner varchar(512) CHARACTER SET utf8mb4 NOT NULL DEFAULT ''
) ENGINE = InnoDB;

-- The same two columns in a table whose rows are the resources:
--	ALTER TABLE account
--		ADD COLUMN fence_token bigint NOT NULL DEFAULT 0,
--		ADD COLUMN fence_owner varchar(512) CHARACTER SET utf8mb4 NOT NULL DEFAULT '';
