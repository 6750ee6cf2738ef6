//go:build real

package leader_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkserver"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

// newEnsembleWorld returns an ensemble of three real servers.
func newEnsembleWorld(t *testing.T) (*world, *zkserver.Ensemble) {
	w, e := recipetest.NewEnsembleWorld(t)
	return &world{w}, e
}

// leaderships tells of each leadership of a selector that always stands again.
type leaderships struct {
	selector *leader.Selector
	began    chan *locks.Lease // gets each lease before its end
	ended    chan error        // gets the reason of each end
}

// runSelector stands for leader until the end of the test. The work only waits
// for the end of its context.
func runSelector(t *testing.T, c *framework.Client, path string, exclusive *locktest.Exclusive) *leaderships {
	ls := &leaderships{began: make(chan *locks.Lease, 16), ended: make(chan error, 16)}
	ls.selector = leader.NewSelector(c, path, leader.WithRequeue(func(error) bool { return true }))
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error)
	go func() {
		done <- ls.selector.Run(ctx, func(ctx context.Context) error {
			lease, _ := locks.LeaseFromContext(ctx)
			exclusive.Enter(lease)
			ls.began <- lease
			<-ctx.Done()
			ls.ended <- context.Cause(ctx)
			return nil
		})
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return ls
}

// begins waits for the next leadership.
func (ls *leaderships) begins(t *testing.T, w *world) *locks.Lease {
	t.Helper()
	select {
	case lease := <-ls.began:
		return lease
	case <-w.Patience(t).Done():
		require.Fail(t, "no leadership has begun")
		return nil
	}
}

// awaitAny waits until one of the latches leads, and returns its index.
func (w *world) awaitAny(t *testing.T, latches ...*leader.Latch) (int, *locks.Lease) {
	t.Helper()
	type grant struct {
		who   int
		lease *locks.Lease
	}
	ctx, cancel := context.WithCancel(w.Patience(t))
	defer cancel()
	granted := make(chan grant, len(latches))
	for i, l := range latches {
		go func() {
			lease, _ := l.WaitLeadership(ctx)
			granted <- grant{i, lease}
		}()
	}
	g := <-granted
	require.NotNil(t, g.lease, "nobody leads")
	return g.who, g.lease
}
