// Package migratelock makes migrations of golang-migrate run once, although each
// replica of a service runs them when it starts. Its lock is on ZooKeeper:
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
// [Open] waits until the other replicas are done. One that loses its lock stops
// between two steps, with a [LostError], and leaves a clean version. The step under
// way ends, unless it fails.
//
// # What the lock of the database is for
//
// A driver's own lock, such as Postgres's advisory lock, is taken as well, after
// ours and before the first step. So at most one replica asks for it, and nobody
// waits in the database, while all replicas have a driver of this package. There, a
// wait is more than a wait: CREATE INDEX CONCURRENTLY of the one that migrates waits
// for those that wait for its lock.
//
// It serves after a loss. A step that has begun cannot be taken back, and the next
// replica has our lock before it ends. A driver with a lock of its own lets the
// next one wait for that end. That is a wait in the database: if the step makes an
// index CONCURRENTLY, Postgres may cancel it. MySQL's driver waits for 10 s, and
// then returns database.ErrLocked. With any other driver, such as SQLite's, the next
// one finds the version dirty, and returns migrate.ErrDirty instead of beginning
// beside it.
//
// That leaves one gap. A process that is stopped for longer than its session
// lives, right between the look at its lock and the first write of a step, begins
// that step when it goes on. Only a driver with a lock of its own keeps it from
// that.
package migratelock
