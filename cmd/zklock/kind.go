package main

import (
	"context"
	"errors"
	"flag"
	"math"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/cmd/zklock/internal/cli"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/inspect"
	"github.com/gocurator/curator/recipes/locks"
)

// lockKind has the flags for the kind of lock at a path.
type lockKind struct {
	shared, exclusive bool
	leases            int
}

func (k *lockKind) define(fs *flag.FlagSet) {
	fs.BoolVar(&k.shared, "s", false, "the read side of a read/write lock")
	cli.Alias(fs, "s", "shared")
	fs.BoolVar(&k.exclusive, "x", false, "the write side of a read/write lock")
	cli.Alias(fs, "x", "exclusive")
	cli.NumberVar(fs, &k.leases, "c", 1, math.MaxInt32, "a semaphore with at most `n` holders")
	cli.Alias(fs, "c", "count")
}

// check returns the usage error of flags that contradict each other.
func (k *lockKind) check() error {
	if k.shared && k.exclusive || (k.shared || k.exclusive) && k.leases > 0 {
		return usagef("run: only one of -s, -x and -c can be given")
	}
	return nil
}

// kind returns the kind of lock, and the flag for it.
func (k *lockKind) kind() inspect.Kind {
	switch {
	case k.shared, k.exclusive:
		return inspect.ReadWriteLock
	case k.leases > 0:
		return inspect.Semaphore
	}
	return inspect.Mutex
}

// locker returns the lock.
func (k *lockKind) locker(c *framework.Client, path string) locks.Locker {
	rw := locks.NewInterProcessReadWriteLock(c, path)
	switch {
	case k.shared:
		return rw.ReadLock()
	case k.exclusive:
		return rw.WriteLock()
	case k.leases > 0:
		return locks.NewInterProcessSemaphore(c, path, locks.Limit(k.leases))
	}
	return locks.NewInterProcessMutex(c, path)
}

// otherKinds maps the kinds of locks and leader elections to the command that takes
// each.
var otherKinds = map[inspect.Kind]string{
	inspect.Mutex:         "which is asked for with no flag of zklock run",
	inspect.ReadWriteLock: "which is asked for with -s or -x of zklock run",
	inspect.Semaphore:     "which is asked for with -c of zklock run",
	inspect.LeaderLatch:   "for which zklock has no command",
}

// checkPath returns a usage error if a lock or a leader election of another kind uses
// the path. Two kinds do not exclude each other, and flock(1) has taught users that -s
// excludes a lock without flags. checkPath cannot recognize the kind of a free lock,
// and takes a LeaderSelector for a mutex.
func checkPath(ctx context.Context, c *framework.Client, path string, want inspect.Kind) error {
	return throughOutages(ctx, c, func() error {
		for r, err := range inspect.Walk(ctx, c, path, inspect.WithDepth(0), inspect.WithMaxParticipants(1)) {
			switch {
			case errors.Is(err, zk.ErrNoNode):
				return nil
			case err != nil:
				return err
			}
			how, isOther := otherKinds[r.Kind]
			if isOther && r.Kind != want && !slices.Contains(r.MayBe, want) {
				return usagef("%s is in use as a %s, %s: the two would not exclude each other", path, r.Kind, how)
			}
		}
		return nil
	})
}

// checkAgain is checkPath after the grant. If two programs with different kinds start
// together, checkPath shows neither the other's node, but after the grants, the program
// with the later node sees the earlier one. If no server answers, the lease alone
// counts.
func (g *guarded) checkAgain(lease *locks.Lease) error {
	ctx, cancel := context.WithTimeout(lease.Context(), answerPatience)
	defer cancel()
	err := checkPath(ctx, g.client, g.path, g.kind)
	var refused statusError
	if errors.As(err, &refused) {
		return err
	}
	return nil
}
