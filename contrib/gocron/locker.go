package gocron

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"sync"
	"time"

	"github.com/go-co-op/gocron/v2"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// Locker is a gocron.Locker. Each job has a mutex, which its name names. It is
// safe for concurrent use.
type Locker struct {
	client *framework.Client
	root   string
	policy locks.ReleasePolicy

	mu   sync.Mutex              // protects the following field
	held map[string]*locks.Lease // the leases of runs, by the names of their jobs
}

var _ gocron.Locker = (*Locker)(nil)

// NewLocker returns a Locker whose mutexes are below root. All schedulers of a
// fleet need the same root.
//
// A mutex is kept for minimumHold from the begin of a run, also if the run ends
// sooner, or its process ends; see locks.ReleasePolicy. It should be longer than
// what the schedulers are apart, and shorter than the time between two runs. Jobs
// whose runs differ much in that have lockers of their own, by
// gocron.WithDistributedJobLocker. If it is 0 or less, there is no minimum hold: a
// job whose runs are short then runs more often than it is due.
//
// NewLocker does not contact the server. A client or a path that cannot be used is
// an error of every Lock.
func NewLocker(c *framework.Client, root string, minimumHold time.Duration) *Locker {
	return &Locker{
		client: c, root: root, held: map[string]*locks.Lease{},
		policy: locks.ReleasePolicy{MinimumHold: max(minimumHold, 0)},
	}
}

// Lock is for gocron, which calls it before each run of a job. Lock does not wait: if another
// scheduler has the mutex, the error matches locks.ErrNotAcquired, and gocron skips the run.
//
// Lock returns the same error while an earlier run of this Locker continues after it has lost
// its mutex. Such a run should have stopped. It may overlap with a run of another process, but
// never with a later run of its own process.
func (l *Locker) Lock(ctx context.Context, key string) (gocron.Lock, error) {
	if l.leaseOf(key) != nil {
		return nil, goesOn(key)
	}
	lease, err := locks.NewInterProcessMutex(l.client, l.pathOf(key), locks.WithReleasePolicy(l.policy)).TryAcquire(ctx)
	if err != nil {
		return nil, err
	}
	if !l.hold(key, lease) { // another call was first, and has lost the mutex since
		return nil, errors.Join(goesOn(key), lease.Release(ctx))
	}
	return &held{of: l, key: key, lease: lease}, nil
}

func goesOn(key string) error {
	return fmt.Errorf("%w: an earlier run of job %q goes on", locks.ErrNotAcquired, key)
}

// hold notes the lease of a run, unless there is one already.
func (l *Locker) hold(key string, lease *locks.Lease) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[key] != nil {
		return false
	}
	l.held[key] = lease
	return true
}

// pathOf returns the path of a job's mutex. A job without a name is called by its function,
// whose name contains slashes.
func (l *Locker) pathOf(key string) string {
	name := url.PathEscape(key)
	if name == "." || name == ".." || name == "" {
		name = "%" + name
	}
	return path.Join(l.root, name)
}

// UnderLock returns a function for gocron.NewTask, which runs a job under its
// mutex: the context of work ends with the job's, and when the mutex is lost. The
// cause, from context.Cause, says why. locks.LeaseFromContext finds the lease in
// it, which has a fencing token.
//
// The job must have the name, by gocron.WithName, and this Locker. Otherwise the
// function returns an error, and does not call work. If work is nil, that is its
// error.
func (l *Locker) UnderLock(name string, work func(ctx context.Context) error) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		lease := l.leaseOf(name)
		if lease == nil {
			return fmt.Errorf("job %q does not hold its lock: its name, or its scheduler's locker, is another one", name)
		}
		return under(ctx, lease, work)
	}
}

func (l *Locker) leaseOf(key string) *locks.Lease {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held[key]
}

// held is the lock of one run.
type held struct {
	of    *Locker
	key   string
	lease *locks.Lease
}

// Unlock releases the mutex, which stays for the rest of its minimum hold. The
// error is what locks.Lease.Release returns: the mutex may have been lost.
func (h *held) Unlock(ctx context.Context) error {
	h.of.mu.Lock()
	if h.of.held[h.key] == h.lease { // it is unlocked once
		delete(h.of.held, h.key)
	}
	h.of.mu.Unlock()
	return h.lease.Release(ctx)
}

// under calls work with a context that ends with ctx and with the lease.
func under(ctx context.Context, lease *locks.Lease, work func(ctx context.Context) error) error {
	if work == nil {
		return isNil("function of the job")
	}
	ctx, done := lease.WithContext(ctx)
	defer done()
	return work(ctx)
}

// isNil is the error of an argument that must not be nil. It matches
// zk.ErrBadArguments.
func isNil(name string) error {
	return &framework.ConfigError{Name: name, Value: "nil", Reason: "must not be nil"}
}
