package scenarios

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

// runs runs a term of a selector.
func (o *office) runs(a *explore.Actor, s *leader.Selector, work func(context.Context) error) {
	ctx, done := stoppable(a, "runs")
	defer done()
	err := s.Run(ctx, work)
	if isEnd(a, err) {
		return
	}
	for _, r := range []error{nil, framework.ErrSessionLost, locks.ErrRevoked, context.Cause(ctx)} {
		if errors.Is(err, r) {
			return
		}
	}
	o.world.Fail("%s: Run returns %v", a.Name(), err)
}

func TestSelectorOfTwo(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		o := newOffice(w)
		for _, name := range names(2) {
			w.Actor(name, func(a *explore.Actor) {
				s := leader.NewSelector(a.Client(), "/leader")
				o.runs(a, s, o.term(a, 5*time.Second))
			})
		}
	}, quick())
}

// The leader resigns. The next one leads when the work has stopped.
func TestSelectorThatResigns(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		o := newOffice(w)
		for _, name := range names(2) {
			w.Actor(name, func(a *explore.Actor) {
				s := leader.NewSelector(a.Client(), "/leader")
				var resigning sync.WaitGroup
				defer resigning.Wait()
				o.runs(a, s, func(ctx context.Context) error {
					resigning.Go(func() {
						time.Sleep(2 * time.Second)
						o.resigns(a, s, ctx)
					})
					return o.term(a, 20*time.Second, locks.ErrRevoked)(ctx)
				})
			})
		}
	}, quick())
}

// resigns waits until the work has stopped.
func (o *office) resigns(a *explore.Actor, s *leader.Selector, work context.Context) {
	err := s.Resign(context.Background())
	if err != nil && !errors.Is(err, leader.ErrNotLeader) && !isLeft(err) {
		o.world.Fail("%s: Resign returns %v", a.Name(), err)
	}
	if work.Err() == nil {
		o.world.Fail("%s has resigned, and its work goes on", a.Name())
	}
}
