// Package processes has the tests in which processes migrate a real database, by
// golang-migrate with package migratelock and by goose under a mutex: a file of
// SQLite, or a database of Postgres. It is a separate module, so that users of migratelock
// get neither goose nor a database driver.
//
// Postgres is Debian's package postgresql, or what has initdb in the PATH. The
// tests start a server without a port. They have the build tag real.
package processes
