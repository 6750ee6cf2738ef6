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

// Locker is a gocron.Locker. Each job has a mutex, named after the job. A Locker is
// safe for concurrent use.
type Locker struct {
	client *framework.Client
	root   string
	policy locks.ReleasePolicy

	mu   sync.Mutex              // protects the following field
	held map[string]*locks.Lease // the leases of runs, by the names of jobs
}

var _ gocron.Locker = (*Locker)(nil)

// NewLocker returns a Locker whose mutexes are below root. All schedulers of a
// fleet need the same root.
//
// The Locker keeps a mutex for minimumHold from the start of a run, even if the run or
// its process ends sooner; see locks.ReleasePolicy. minimumHold should be longer than
// the delay between schedulers, and shorter than the time between two runs. Jobs with
// very different intervals need separate lockers, by gocron.WithDistributedJobLocker.
// If minimumHold is 0 or less, there is no minimum hold: a short job then runs more
// often than it is due.
//
// NewLocker does not contact the server. If the client or the path cannot be used,
// every Lock returns an error.
func NewLocker(c *framework.Client, root string, minimumHold time.Duration) *Locker {
	return &Locker{
		client: c, root: root, held: map[string]*locks.Lease{},
		policy: locks.ReleasePolicy{MinimumHold: max(minimumHold, 0)},
	}
}

// Lock is called by gocron before each run of a job. Lock does not wait: if another
// scheduler has the mutex, the error matches locks.ErrNotAcquired, and gocron skips the
// run.
//
// Lock returns the same error while an earlier run of this Locker continues without its mutex,
// which was lost. Such a run should have stopped. It may overlap with a run of another
// process, but never with a later run of the same process.
func (l *Locker) Lock(ctx context.Context, key string) (gocron.Lock, error) {
	if l.leaseOf(key) != nil {
		return nil, goesOn(key)
	}
	lease, err := locks.NewInterProcessMutex(l.client, l.pathOf(key), locks.WithReleasePolicy(l.policy)).TryAcquire(ctx)
	if err != nil {
		return nil, err
	}
	if !l.hold(key, lease) { // another call was first and has since lost the mutex
		return nil, errors.Join(goesOn(key), lease.Release(ctx))
	}
	return &held{of: l, key: key, lease: lease}, nil
}

func goesOn(key string) error {
	return fmt.Errorf("%w: an earlier run of job %q has not ended", locks.ErrNotAcquired, key)
}

// hold records the lease of a run, unless the job already has a lease.
func (l *Locker) hold(key string, lease *locks.Lease) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[key] != nil {
		return false
	}
	l.held[key] = lease
	return true
}

// pathOf returns the path of a job's mutex. A job without a name is named after its
// function, whose name contains slashes.
func (l *Locker) pathOf(key string) string {
	name := url.PathEscape(key)
	if name == "." || name == ".." || name == "" {
		name = "%" + name
	}
	return path.Join(l.root, name)
}

// UnderLock returns a function for gocron.NewTask, which runs a job under its mutex:
// the context of work ends with the job's context or when the mutex is lost.
// context.Cause returns the reason. locks.LeaseFromContext returns the lease, which has
// a fencing token.
//
// The job must have this name, set by gocron.WithName, and this Locker. Otherwise, or
// if work is nil, the function returns an error without calling work.
func (l *Locker) UnderLock(name string, work func(ctx context.Context) error) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		lease := l.leaseOf(name)
		if lease == nil {
			return fmt.Errorf("job %q does not hold its lock: the job's name or the scheduler's locker differs", name)
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

// Unlock releases the mutex, which stays locked for the rest of its minimum hold. The
// error is the result of locks.Lease.Release: the mutex may have been lost.
func (h *held) Unlock(ctx context.Context) error {
	h.of.mu.Lock()
	if h.of.held[h.key] == h.lease { // only the first Unlock counts
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

// isNil returns the error of an argument that must not be nil. The error matches
// zk.ErrBadArguments.
func isNil(name string) error {
	return &framework.ConfigError{Name: name, Value: "nil", Reason: "must not be nil"}
}
