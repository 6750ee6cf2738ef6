package locks

import (
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locktrace"
)

// InterProcessSemaphoreMutex is an InterProcessSemaphore with one lease: a
// mutex that is not re-entrant, with the nodes of Java Curator's
// InterProcessSemaphoreMutex. Under the context of its own lease, Acquire waits
// for itself, until ctx ends.
type InterProcessSemaphoreMutex = InterProcessSemaphore

// NewInterProcessSemaphoreMutex returns the mutex with this path. A client, a
// path or an option that cannot be used is an error of every acquire.
func NewInterProcessSemaphoreMutex(c *framework.Client, path string, opts ...Option) *InterProcessSemaphoreMutex {
	return newSemaphore(c, path, Limit(1), locktrace.RecipeSemaphoreMutex, opts)
}
