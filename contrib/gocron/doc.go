// Package gocron makes the jobs of gocron's schedulers run once in a fleet, by locks
// and leader election on ZooKeeper:
//
//	import cron "github.com/gocurator/curator/contrib/gocron"
//
//	locker := cron.NewLocker(client, "/cron", 50*time.Second)
//	scheduler, err := gocron.NewScheduler(gocron.WithDistributedLocker(locker))
//	...
//	scheduler.NewJob(
//		gocron.DurationJob(time.Minute),
//		gocron.NewTask(locker.UnderLock("report", writeReport)),
//		gocron.WithName("report"),
//	)
//
// A [Locker] gives each run of a job to one of all schedulers. An [Elector] lets
// one scheduler run all jobs, for as long as it leads.
//
// # Once
//
// The schedulers of a fleet do not start at the same moment, and their clocks
// differ. A job that takes less time than that is run by each of them in turn, if
// its lock is free as soon as it ends. So a Locker keeps the lock for some time
// from the begin of the run; see locks.ReleasePolicy.
//
// # Stopped in time
//
// A run that has lost its lock, or its leadership, is beside the next one if it
// goes on. gocron does not know of that. The context of a function that
// [Locker.UnderLock] or [Elector.UnderLeadership] returns ends then, before
// anybody else can have the lock. A job that does not look at its context goes on
// beside the next run, in another process: nothing can stop it.
package gocron
