package fencesql

import (
	"fmt"
	"strconv"
	"strings"
)

// Dialect is the SQL that a database speaks.
type Dialect int

const (
	// Postgres numbers the parameters of queries: $1, $2.
	Postgres Dialect = iota + 1

	// MySQL is also the dialect of MariaDB. Tables must be InnoDB's. Parameters are
	// question marks.
	MySQL

	// SQLite needs version 3.24 or later. Parameters are question marks. A busy_timeout
	// lets writers wait for each other.
	SQLite
)

// param returns the parameter with a number, counted from 1. MySQL assigns parameters by
// their order in the text, so a text for MySQL must use each parameter once, and in
// order.
func (d Dialect) param(n int) string {
	switch d {
	case Postgres:
		return "$" + strconv.Itoa(n)
	case SQLite:
		return "?" + strconv.Itoa(n)
	default:
		return "?"
	}
}

// params returns count parameters, numbered from first.
func (d Dialect) params(first, count int) string {
	list := make([]string, count)
	for i := range list {
		list[i] = d.param(first + i)
	}
	return strings.Join(list, ", ")
}

// updateText is the text of an update whose own assignments have n parameters. The next
// parameters are the token, the owner, the key and again the token. The fence begins on
// a new line because the assignments may end with a comment.
//
// MySQL counts only rows that change. But MySQL reports the LAST_INSERT_ID of an
// update, here the token, even if the row already has these values.
func (t Table) updateText(set string, n int) string {
	d := t.Dialect
	raised := d.param(n + 1)
	if d == MySQL {
		raised = "LAST_INSERT_ID(GREATEST(fence_token, " + raised + "))"
	}
	return "UPDATE " + t.Name + " SET " + set + "\n, fence_token = " + raised + ", fence_owner = " + d.param(n+2) +
		" WHERE " + t.Key + " = " + d.param(n+3) + " AND fence_token <= " + d.param(n+4)
}

// upsertText is the text of an upsert of rows. Each row has a parameter for each
// column, then the token, then the owner. A row with a larger token does not change.
func (t Table) upsertText(columns []string, rows int) string {
	all := append(columns[:len(columns):len(columns)], "fence_token", "fence_owner")
	values := make([]string, rows)
	for i := range values {
		values[i] = "(" + t.Dialect.params(1+i*len(all), len(all)) + ")"
	}
	insert := func(alias string) string {
		return "INSERT INTO " + t.Name + alias + " (" + strings.Join(all, ", ") + ") VALUES " + strings.Join(values, ", ")
	}
	var set []string
	if t.Dialect == MySQL {
		for _, c := range all {
			if c != t.Key && c != "fence_token" {
				set = append(set, fmt.Sprintf("%s = IF(fence_token <= VALUES(fence_token), VALUES(%s), %[1]s)", c, c))
			}
		}
		// MySQL assigns from left to right, and an assignment sees the results of
		// earlier ones. So the token is assigned last.
		set = append(set, "fence_token = GREATEST(fence_token, VALUES(fence_token))")
		return insert("") + " ON DUPLICATE KEY UPDATE " + strings.Join(set, ", ")
	}
	for _, c := range all {
		if c != t.Key {
			set = append(set, c+" = excluded."+c)
		}
	}
	return insert(" AS fenced") +
		fmt.Sprintf(" ON CONFLICT (%s) DO UPDATE SET %s WHERE fenced.fence_token <= excluded.fence_token",
			t.Key, strings.Join(set, ", "))
}

// newestText is the text of a query for the largest token of some rows. A token that is
// NULL, against the schema, counts as the largest, because it blocks every write. MySQL
// would read a snapshot if the query did not lock.
func (t Table) newestText(keys int) string {
	text := fmt.Sprintf("SELECT COALESCE(fence_token, 9223372036854775807), COALESCE(fence_owner, '')"+
		" FROM %s WHERE %s IN (%s) ORDER BY 1 DESC LIMIT 1",
		t.Name, t.Key, t.Dialect.params(1, keys))
	if t.Dialect == MySQL {
		text += " FOR UPDATE"
	}
	return text
}

// refusal begins the text that Postgres fails to read as a number, in execText.
const refusal = "stale fencing token, after "

// execText is the text of a statement that raises the guard row and executes a query
// with n parameters, which come first. Then there are the key, the token and the owner.
// Postgres evaluates the columns of a result from left to right, so it locks the guard
// row first, as Within does. The order only prevents deadlocks; the fence does not need
// it, because an error in one part undoes both.
func (t Table) execText(query string, n int) string {
	return fmt.Sprintf(`WITH fencesql_raised AS (
	INSERT INTO %s AS fenced (%s, fence_token, fence_owner) VALUES (%s)
	ON CONFLICT (%[2]s) DO UPDATE SET fence_owner = excluded.fence_owner, fence_token =
		CASE WHEN fenced.fence_token <= excluded.fence_token THEN excluded.fence_token
		ELSE CAST(concat('%[4]s', fenced.fence_token, ' of ', fenced.fence_owner) AS bigint) END
	RETURNING 1
), fencesql_done AS (
	%[5]s
	RETURNING 1
) SELECT (SELECT count(*) FROM fencesql_raised), (SELECT count(*) FROM fencesql_done)`,
		t.Name, t.Key, t.Dialect.params(n+1, 3), refusal, query)
}
