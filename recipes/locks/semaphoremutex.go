package locks

import (
	"context"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locktrace"
)

// InterProcessSemaphoreMutex is an InterProcessSemaphore with one lease: a
// mutex that is not re-entrant, with the nodes of Java Curator's
// InterProcessSemaphoreMutex.
type InterProcessSemaphoreMutex struct{ semaphore *InterProcessSemaphore }

// NewInterProcessSemaphoreMutex returns the mutex with this path. A client, a
// path or an option that cannot be used is an error of every acquire.
func NewInterProcessSemaphoreMutex(c *framework.Client, path string, opts ...Option) *InterProcessSemaphoreMutex {
	return &InterProcessSemaphoreMutex{newSemaphore(c, path, Limit(1), locktrace.RecipeSemaphoreMutex, opts)}
}

// Acquire waits for the mutex. Under the context of its own lease it waits for
// itself, until ctx ends.
func (m *InterProcessSemaphoreMutex) Acquire(ctx context.Context) (*Lease, error) {
	return orZero(m.semaphore).Acquire(ctx)
}

// TryAcquire is that of InterProcessSemaphore.
func (m *InterProcessSemaphoreMutex) TryAcquire(ctx context.Context) (*Lease, error) {
	return orZero(m.semaphore).TryAcquire(ctx)
}

// Do is that of InterProcessMutex.
func (m *InterProcessSemaphoreMutex) Do(ctx context.Context, f func(ctx context.Context) error) error {
	return orZero(m.semaphore).Do(ctx, f)
}

// Participants returns the holder, and whoever is just acquiring the mutex.
func (m *InterProcessSemaphoreMutex) Participants(ctx context.Context) ([]Participant, error) {
	return orZero(m.semaphore).Participants(ctx)
}

func (m *InterProcessSemaphoreMutex) describe(wait bool) locktrace.Acquire {
	return orZero(m.semaphore).describe(wait)
}
