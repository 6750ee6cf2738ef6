package recipetest

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/locks"
)

// Exclusive is what no two may be on at once.
type Exclusive struct {
	mu     sync.Mutex // protects the following fields
	leases []*locks.Lease
	wrong  []string
}

// NewExclusive returns one that fails the test at its end if it was shared.
func NewExclusive(t *testing.T) *Exclusive {
	x := &Exclusive{}
	t.Cleanup(func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		require.Empty(t, x.wrong)
	})
	return x
}

// Enter must be called after the lease has begun.
func (x *Exclusive) Enter(lease *locks.Lease) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, other := range x.leases {
		// Asked in this order: the other is alive, and so was this one at that
		// moment, if it is alive after it.
		if other.Context().Err() == nil && lease.Context().Err() == nil {
			x.wrong = append(x.wrong, fmt.Sprintf("%s leads beside %s", lease.Path(), other.Path()))
		}
	}
	x.leases = append(x.leases, lease)
}
