package locktest

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/locks"
)

// Exclusive checks that no two leases are held at once.
type Exclusive struct {
	mu     sync.Mutex // protects the following fields
	leases []*locks.Lease
	wrong  []string
}

// NewExclusive returns an Exclusive. It fails the test at its end if two leases
// were held at once.
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
		// The order matters: the other lease is alive in the first call. If
		// this one is alive in the second, it was alive at that moment, too.
		if other.Context().Err() == nil && lease.Context().Err() == nil {
			x.wrong = append(x.wrong, fmt.Sprintf("%s is held at the same time as %s", lease.Path(), other.Path()))
		}
	}
	x.leases = append(x.leases, lease)
}
