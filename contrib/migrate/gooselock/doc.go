// Package gooselock makes migrations of goose run once, although each replica of a
// service runs them when it starts. Its lock is on ZooKeeper, and serves for any
// database:
//
//	locker := gooselock.New(client, "/migrations/orders")
//	provider, err := goose.NewProvider(goose.DialectPostgres, db, files, goose.WithLocker(locker))
//	...
//	err = locker.Do(ctx, func(ctx context.Context) error {
//		_, err := provider.Up(ctx) // ctx ends if the lock is lost
//		return err
//	})
//
// goose takes a locker's lock in Up, Down and the like, for that call. HasPending and
// GetVersions take none.
//
// # What happens when the lock is lost
//
// goose asks its locker for nothing between two steps. So a provider that has a
// [Locker] and is called outside of [Locker.Do] goes on beside the next replica.
// Its call returns the loss at the end.
//
// Under Do, the context of the call ends as soon as the lock is lost. The steps
// that are done stay done, and no further one begins. The one under way is rolled
// back if it runs in a transaction, which is goose's default, and otherwise stops
// where its statement stops. In an outage, the context ends before the servers give
// the lock to the next replica, by the safety margin of the client's session. If
// the servers end the session, or somebody deletes the lock's node, the next
// replica has it at once. What the database takes to roll back comes on top; the
// next replica waits for that only as long as the database's own locks make it wait.
//
// A provider can have Postgres's session locker, and be called under Do. It then
// has both locks.
package gooselock
