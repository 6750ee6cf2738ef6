// Package processes has the tests in which processes migrate a real database (SQLite or
// Postgres), by golang-migrate with package migratelock or by goose under a mutex. It is a
// separate module, so that users of migratelock get neither goose nor a database driver.
//
// Postgres is Debian's package postgresql, or the installation whose initdb is in the
// PATH. The tests start a server without a port. They have the build tag real.
package processes
