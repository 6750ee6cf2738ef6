// Package processes has the tests of packages migratelock and gooselock in which
// processes migrate a real database: a file of SQLite, or a database of Postgres.
//
// Postgres is Debian's package postgresql, or what has initdb in the PATH. The
// tests have a server of their own, without a port. Without Postgres they are
// skipped, or fail if CURATOR_REQUIRE_ZOOKEEPER is set to a non-empty value, as
// all tests do that need what .ci/run installs.
package processes
