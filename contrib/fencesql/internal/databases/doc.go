// Package databases has the tests in which processes write to a real database under
// package fencesql: Postgres, MariaDB, and a file of SQLite. The tests are a separate
// module, so users of fencesql do not depend on drivers that they do not use.
//
// Postgres is Debian's package postgresql, or the installation whose initdb is in the
// PATH. MariaDB is Debian's packages mariadb-server-core and mariadb-client-core. The
// tests start servers without a port, and have the build tag real.
package databases
