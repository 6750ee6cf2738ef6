package fencesql

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The texts of all statements, for each dialect. Each checks and raises by itself.
func TestTexts(t *testing.T) {
	columns := []string{"id", "value"}
	for dialect, want := range map[Dialect]struct{ update, upsert, newest string }{
		Postgres: {
			"UPDATE t SET value = $1\n, fence_token = $2, fence_owner = $3 WHERE id = $4 AND fence_token <= $5",
			"INSERT INTO t AS fenced (id, value, fence_token, fence_owner) VALUES ($1, $2, $3, $4), ($5, $6, $7, $8)" +
				" ON CONFLICT (id) DO UPDATE SET value = excluded.value, fence_token = excluded.fence_token, fence_owner = excluded.fence_owner" +
				" WHERE fenced.fence_token <= excluded.fence_token",
			"SELECT COALESCE(fence_token, 9223372036854775807), COALESCE(fence_owner, '') FROM t WHERE id IN ($1, $2) ORDER BY 1 DESC LIMIT 1",
		},
		SQLite: {
			"UPDATE t SET value = ?\n, fence_token = ?2, fence_owner = ?3 WHERE id = ?4 AND fence_token <= ?5",
			"INSERT INTO t AS fenced (id, value, fence_token, fence_owner) VALUES (?1, ?2, ?3, ?4), (?5, ?6, ?7, ?8)" +
				" ON CONFLICT (id) DO UPDATE SET value = excluded.value, fence_token = excluded.fence_token, fence_owner = excluded.fence_owner" +
				" WHERE fenced.fence_token <= excluded.fence_token",
			"SELECT COALESCE(fence_token, 9223372036854775807), COALESCE(fence_owner, '') FROM t WHERE id IN (?1, ?2) ORDER BY 1 DESC LIMIT 1",
		},
		MySQL: {
			"UPDATE t SET value = ?\n, fence_token = LAST_INSERT_ID(GREATEST(fence_token, ?)), fence_owner = ? WHERE id = ? AND fence_token <= ?",
			"INSERT INTO t (id, value, fence_token, fence_owner) VALUES (?, ?, ?, ?), (?, ?, ?, ?)" +
				" ON DUPLICATE KEY UPDATE value = IF(fence_token <= VALUES(fence_token), VALUES(value), value)," +
				" fence_owner = IF(fence_token <= VALUES(fence_token), VALUES(fence_owner), fence_owner)," +
				" fence_token = GREATEST(fence_token, VALUES(fence_token))",
			"SELECT COALESCE(fence_token, 9223372036854775807), COALESCE(fence_owner, '') FROM t WHERE id IN (?, ?) ORDER BY 1 DESC LIMIT 1 FOR UPDATE",
		},
	} {
		table := Table{dialect, "t", "id"}
		set := "value = ?"
		if dialect == Postgres {
			set = "value = $1"
		}
		require.Equal(t, want.update, table.updateText(set, 1))
		require.Equal(t, want.upsert, table.upsertText(columns, 2))
		require.Equal(t, want.newest, table.newestText(2))
	}
	require.Equal(t, []string{"id", "value"}, columns)
	require.Equal(t, `WITH fencesql_raised AS (
	INSERT INTO fence AS fenced (resource, fence_token, fence_owner) VALUES ($2, $3, $4)
	ON CONFLICT (resource) DO UPDATE SET fence_owner = excluded.fence_owner, fence_token =
		CASE WHEN fenced.fence_token <= excluded.fence_token THEN excluded.fence_token
		ELSE CAST(concat('stale fencing token, after ', fenced.fence_token, ' of ', fenced.fence_owner) AS bigint) END
	RETURNING 1
), fencesql_done AS (
	DELETE FROM t WHERE id = $1
	RETURNING 1
) SELECT (SELECT count(*) FROM fencesql_raised), (SELECT count(*) FROM fencesql_done)`,
		Table{Postgres, "fence", "resource"}.execText("DELETE FROM t WHERE id = $1", 1))
}
