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
// A [Locker] lets one of the schedulers execute each run of a job. An [Elector] lets
// one scheduler run all jobs, for as long as its process leads.
//
// # Once
//
// The schedulers of a fleet do not start at the same moment, and their clocks differ.
// If the lock of a short job were free as soon as the job ends, each scheduler would
// run the job in turn. So a Locker keeps the lock for some time from the start of the
// run; see locks.ReleasePolicy.
//
// # Stopped in time
//
// A run that continues after losing its lock or leadership can overlap with the next
// run. gocron does not notice the loss. [Locker.UnderLock] and
// [Elector.UnderLeadership] return functions whose context ends at the loss, before
// another process can get the lock. Nothing can stop a job that ignores its context:
// such a job overlaps with the next run, in another process.
package gocron
