// Package migratelock makes migrations of golang-migrate run once, although each
// replica of a service starts them. The lock is on ZooKeeper:
//
//	driver, err := migratelock.Open(ctx, client, "/migrations/orders", func() (database.Driver, error) {
//		return postgres.WithInstance(db, &postgres.Config{})
//	})
//	...
//	m, err := migrate.NewWithInstance("iofs", source, "postgres", driver)
//	...
//	defer m.Close()
//	err = m.Up()
//
// [Open] waits until the other replicas are done. A replica that loses its lock stops
// between two steps, with a [LostError], and leaves a clean version. The current step
// runs to its end, unless it fails.
//
// # The database's own lock
//
// If the driver has its own lock, such as Postgres's advisory lock, this package takes that
// lock as well, after its own lock and before the first step. While all replicas use this
// package, at most one replica asks for the database's lock, and no replica waits in the
// database. Such a wait could do harm: CREATE INDEX CONCURRENTLY waits for every
// transaction that waits for the advisory lock.
//
// The database's lock helps when a replica loses its session during a step. The step cannot
// be undone, and the next replica gets this package's lock before the step has ended. With a
// driver that has its own lock, the next replica waits in the database: Postgres may then
// cancel a CREATE INDEX CONCURRENTLY, and MySQL's driver returns database.ErrLocked after
// 10 s. With any other driver, such as SQLite's, the next replica finds the version dirty,
// and returns migrate.ErrDirty instead of running the step a second time.
//
// One gap remains. A process may be stopped between the check of its lock and the first
// write of a step, for longer than its session lives. When it continues, it begins that
// step. Only a driver with its own lock prevents that.
package migratelock
