package scenarios

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/state"
)

// A leader that was asked to hand over does not lead again with its node, whatever
// happens until its work has stopped. Under the standard policy, an interruption
// ends its leadership, and does not end its session.
func TestLatchThatIsInTroubleWhenItIsAskedToHandOver(t *testing.T) {
	for name, own := range map[string]trouble{"in peace": none, "cut": cut, "given up": givenUp} {
		t.Run(name, func(t *testing.T) {
			explore.Search(t, func(w *explore.World) {
				w.ClientOptions(framework.WithErrorPolicy(state.StandardPolicy))
				all := &askings{own: own, asked: map[string]bool{}}
				handingOver(all.work)(w)
			}, brief())
		})
	}
}

// askings is which leaders were asked to hand over.
type askings struct {
	own trouble // of A, when it is asked

	mu    sync.Mutex
	asked map[string]bool // the paths of their nodes
}

func (s *askings) work(o *office, a *explore.Actor) func(context.Context) error {
	term := o.term(a, 10*time.Second, framework.ErrSuspended)
	return func(ctx context.Context) error {
		lease, _ := locks.LeaseFromContext(ctx)
		if s.wasAsked(lease.Path()) {
			o.world.Fail("%s was asked to hand over, and leads again with %s", a.Name(), lease.Path())
		}
		over := make(chan struct{})
		defer close(over)
		go func() {
			select {
			case <-lease.Revoked():
				if lease.Context().Err() == nil { // else it was lost before
					s.note(a, lease.Path())
				}
			case <-over:
			}
		}()
		return term(ctx)
	}
}

func (s *askings) wasAsked(path string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[path]
}

// note notes that a leader was asked.
func (s *askings) note(a *explore.Actor, path string) {
	s.mu.Lock()
	s.asked[path] = true
	s.mu.Unlock()
	if a.Name() == "A" {
		s.own(a)
	}
}
