// Package processes has the tests of packages migratelock and gooselock in which
// processes migrate a real database: a file of SQLite, or a database of Postgres.
//
// Postgres is Debian's package postgresql, or what has initdb in the PATH. The
// tests start a server without a port. They have the build tag real.
package processes
