// Package asynq has the periodic tasks of asynq enqueued once in a fleet, by
// the process that leads:
//
//	import periodic "github.com/gocurator/curator/contrib/asynq"
//
//	latch, err := leader.NewLatch(client, "/tasks/leader")
//	...
//	defer latch.Shutdown(context.WithoutCancel(ctx))
//	err = periodic.Lead(ctx, latch, asynq.PeriodicTaskManagerOpts{
//		RedisConnOpt:               redis,
//		PeriodicTaskConfigProvider: configs,
//	})
//
// A scheduler of asynq enqueues each task at its due times. Several schedulers
// enqueue it several times, so there has to be one. [Lead] starts a new one
// whenever its process leads, and shuts it down when that is over.
//
// # Once
//
// Nothing becomes due at a process from the moment when its leadership ends,
// whose context tells: at a loss of the session that is by
// framework.WithSafetyMargin before the servers can let the next one lead. What
// became due before may still be on its way to Redis, for as long as the client
// of Redis waits and tries. So each due time is enqueued once, if the clocks of
// the two differ by less than the time between them.
//
// At a hand-over that time may be short. For a task that must not be there
// twice, give its option asynq.Unique, too, for a time that is longer than what
// clocks differ.
//
// # Not always
//
// Nobody leads between the crash of a leader and the end of its session. What
// is due then is not enqueued later: a scheduler knows no past. A process that
// is stopped, and goes on after its session, may enqueue a task before it hears
// of that.
//
// GUARANTEES.md lists every promise, and the tests that hold it.
package asynq
