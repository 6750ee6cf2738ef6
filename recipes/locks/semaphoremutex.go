package locks

import (
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locktrace"
)

// InterProcessSemaphoreMutex is an InterProcessSemaphore with one lease: a mutex that is
// not re-entrant. Its nodes are the same as in Java Curator's InterProcessSemaphoreMutex.
// Under the context of a lease of the same lock, Acquire waits for itself until ctx ends.
type InterProcessSemaphoreMutex = InterProcessSemaphore

// NewInterProcessSemaphoreMutex returns the mutex with this path. If the client is nil,
// or the path or an option is invalid, every acquire returns an error.
func NewInterProcessSemaphoreMutex(c *framework.Client, path string, opts ...Option) *InterProcessSemaphoreMutex {
	return newSemaphore(c, path, Limit(1), locktrace.RecipeSemaphoreMutex, opts)
}
