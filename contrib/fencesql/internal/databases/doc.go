// Package databases has the tests in which processes write to a real database under
// package fencesql: Postgres, MariaDB, and a file of SQLite. It is a module of its own,
// so that users of fencesql do not get the drivers of databases that they do not use.
//
// Postgres is Debian's package postgresql, or what has initdb in the PATH. MariaDB is
// Debian's packages mariadb-server-core and mariadb-client-core. The tests start
// servers without a port, and have the build tag real.
package databases
