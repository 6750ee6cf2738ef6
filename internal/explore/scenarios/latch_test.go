package scenarios

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/state"
)

// office is what a leader is in. Its work takes its time to stop, for which the
// safety margin is long enough.
type office struct {
	world   *explore.World
	leading *explore.Section // under a lease that is alive
	trouble trouble          // of A in its first term, or nil
	after   time.Duration    // when that is, in the term
	working *explore.Section // also by one that is told to stop, and has not yet

	mu      sync.Mutex
	stopped map[int64]*stop           // by the transaction of the leader's node
	late    map[*explore.Actor]func() // others do not wait for the work any more
}

// stop is the end of work whose lease was lost.
type stop struct {
	actor *explore.Actor
	since time.Time // its client was connected, too
}

// stops is how long work goes on when it was told to stop. The safety margin is a
// tenth of a session.
const stops = 500 * time.Millisecond

func newOffice(w *explore.World) *office {
	w.Node("/leader", "")
	o := &office{world: w, leading: w.Section("the lead", 1), working: w.Section("the work", 1)}
	o.stopped, o.late = map[int64]*stop{}, map[*explore.Actor]func(){}
	w.Always(o.checkStopped)
	return o
}

// checkStopped sees that the node of a leader goes when its work has stopped.
func (o *office) checkStopped(tree explore.Tree) error {
	const bound = time.Second
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, n := range below(tree, "/leader") {
		s := o.stopped[n.Stat.Czxid]
		switch {
		case s == nil:
		case s.actor.Closed() || !s.actor.Client().State().IsConnected():
			s.since = time.Now()
		case time.Since(s.since) > bound && o.world.Quiet() > 5*time.Second:
			return fmt.Errorf("the work of %s has stopped, and %s is there", s.actor.Name(), n.Path)
		}
	}
	return nil
}

// noteStopped notes that work has stopped after a loss.
func (o *office) noteStopped(a *explore.Actor, lease *locks.Lease) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if errors.Is(context.Cause(lease.Context()), framework.ErrSessionLost) {
		o.stopped[lease.FencingToken()] = &stop{a, time.Now()}
	}
}

// term is the work of a leader: for that long, or until it is told to stop.
func (o *office) term(a *explore.Actor, d time.Duration, reasons ...error) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		lease, _ := locks.LeaseFromContext(ctx)
		done := o.leading.Enter(a, lease.Context(), lease.FencingToken())
		atDeadline, over := o.begin(a)
		defer over()
		if own := o.trouble; own != nil && a.Name() == "A" {
			o.trouble = nil
			pass(lease.Context(), o.after)
			own(a)
		}
		select {
		case <-time.After(d):
			done()
		case <-lease.Revoked():
			time.Sleep(stops)
		case <-ctx.Done():
			time.Sleep(stops)
		}
		select {
		case <-atDeadline:
			checkLoss(o.world, a, lease, append(slices.Clone(reasons), locks.ErrRevoked)...)
		default:
			checkLoss(o.world, a, lease, reasons...)
		}
		o.noteStopped(a, lease)
		return nil
	}
}

// begin begins work, for which others wait until it is over. The channel is closed
// when the time of a hand-over is up: then they do not wait.
func (o *office) begin(a *explore.Actor) (atDeadline <-chan struct{}, over func()) {
	over = sync.OnceFunc(o.working.Enter(a, context.Background(), 0))
	late := make(chan struct{})
	o.mu.Lock()
	defer o.mu.Unlock()
	o.late[a] = sync.OnceFunc(func() {
		close(late)
		over()
	})
	return late, over
}

// isLate is called when the time of a hand-over is up.
func (o *office) isLate(a *explore.Actor) {
	o.mu.Lock()
	late := o.late[a]
	o.mu.Unlock()
	if late != nil {
		late()
	}
}

// stoppable is a context that the search may end. Unlike a Call, the work under this
// context may take its time to stop.
func stoppable(a *explore.Actor, what string) (ctx context.Context, done func()) {
	ctx, end := context.WithCancelCause(context.Background())
	over := make(chan struct{})
	go a.CallWithin(what, 2*stops, func(call context.Context) error {
		select {
		case <-call.Done():
			end(context.Cause(call))
			return context.Cause(call)
		case <-over:
			return nil
		}
	})
	return ctx, func() { close(over); end(nil) }
}

// candidate leads once, for five seconds.
func (o *office) candidate(a *explore.Actor) {
	latch, err := leader.NewLatch(a.Client(), "/leader", leader.WithID(a.Name()))
	if err != nil {
		o.world.Fail("%s: %v", a.Name(), err)
		return
	}
	o.leads(a, latch, o.term(a, 5*time.Second, framework.ErrSuspended))
}

// leads leads until the work has returned by itself.
func (o *office) leads(a *explore.Actor, latch *leader.Latch, work func(context.Context) error) {
	ctx, done := stoppable(a, "wants to lead")
	defer done()
	err := latch.Lead(ctx, work)
	if ended := ctx.Err() != nil && errors.Is(err, context.Cause(ctx)); err != nil && !ended && !isEnd(a, err) {
		o.world.Fail("%s: Lead returns %v", a.Name(), err)
	}
	shutdown(o.world, a, latch)
}

// shutdown leaves the candidacy. If shutdown has waited for the deletion of the node,
// its error says why the node may still exist, for example because there is no
// connection.
func shutdown(w *explore.World, a *explore.Actor, latch *leader.Latch) {
	err := a.Call("shutdown", latch.Shutdown)
	if latch.Leadership() != nil {
		w.Fail("%s leads after its shutdown", a.Name())
	}
	if err != nil && !errors.Is(err, context.Canceled) && !framework.IsConnectionError(err) && !isLeft(err) && !isEnd(a, err) {
		w.Fail("%s: Shutdown returns %v", a.Name(), err)
	}
}

// isLeft reports whether the session of a node was over before a server has said
// that the node is gone.
func isLeft(err error) bool { return errors.Is(err, framework.ErrLeftToServers) }

func TestLatchOfTwo(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		o := newOffice(w)
		w.Actor("A", o.candidate)
		w.Actor("B", o.candidate)
	}, quick())
}

// Under the standard policy, an interruption ends a leadership, and the latch
// leads again with its node.
func TestLatchUnderTheStandardPolicy(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		w.ClientOptions(framework.WithErrorPolicy(state.StandardPolicy))
		o := newOffice(w)
		w.Actor("A", o.candidate)
		w.Actor("B", o.candidate)
	}, quick())
}

// The first leader meets each kind of trouble. Its work takes its time to stop, and no
// other candidate works at the same time, even if the leader's client has given its
// session up early.
func TestLatchUnderFaultsOfTheLeader(t *testing.T) {
	for _, c := range []struct {
		name   string
		own    trouble
		policy state.ErrorPolicy
	}{
		{"interrupted", cut, state.StandardPolicy},
		{"interrupted for long", givenUp, state.StandardPolicy},
		{"given up", givenUp, state.SessionPolicy},
		{"lost early", moved, state.SessionPolicy},
		{"lost", loss, state.SessionPolicy},
		{"closed", closed, state.SessionPolicy},
	} {
		t.Run(c.name, func(t *testing.T) {
			explore.Search(t, func(w *explore.World) {
				w.ClientOptions(framework.WithErrorPolicy(c.policy))
				o := newOffice(w)
				o.trouble = c.own
				w.Actor("A", o.candidate)
				w.Actor("B", o.candidate)
			}, quick())
		})
	}
}

// An operator deletes the nodes of those who lead and wait.
func TestLatchWhoseNodesAreDeleted(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		w.Node("/leader", "")
		all := watchHolders(w)
		waiting := 0 // candidates that have not led yet
		w.Always(func(tree explore.Tree) error {
			if n := len(below(tree, "/leader")); n < waiting && w.Quiet() > 10*time.Second {
				return fmt.Errorf("%d nodes are there, and %d candidates wait", n, waiting)
			}
			return nil
		})
		for _, name := range names(2) {
			w.Actor(name, func(a *explore.Actor) {
				latch, err := leader.NewLatch(a.Client(), "/leader", leader.WithID(a.Name()))
				if err != nil {
					refuse(w, a, err)
					return
				}
				waiting++
				hasLed := sync.OnceFunc(func() { waiting-- })
				defer hasLed()
				(&office{world: w}).leads(a, latch, func(ctx context.Context) error {
					hasLed()
					lease, _ := locks.LeaseFromContext(ctx)
					all.add(a, lease)
					pass(ctx, 20*time.Second)
					checkLoss(w, a, lease, locks.ErrNodeDeleted)
					return nil
				})
			})
		}
		w.Actor("O", func(a *explore.Actor) {
			time.Sleep(2 * time.Second)
			deleteLast(a, "/leader")
			time.Sleep(3 * time.Second)
			deleteBelow(a, "/leader")
		})
	}, quick())
}

// Each leader hands over once, and its work takes its time to stop. Then each
// leads to the end of its term.
func TestLatchThatHandsOver(t *testing.T) {
	explore.Search(t, handingOver(func(o *office, a *explore.Actor) func(context.Context) error {
		return o.term(a, 5*time.Second)
	}), quick())
}

func handingOver(work func(*office, *explore.Actor) func(context.Context) error) explore.Scenario {
	return func(w *explore.World) {
		o := newOffice(w)
		for _, name := range names(2) {
			w.Actor(name, func(a *explore.Actor) {
				latch, err := leader.NewLatch(a.Client(), "/leader")
				if err != nil {
					w.Fail("%s: %v", a.Name(), err)
					return
				}
				var handing sync.WaitGroup
				defer handing.Wait()
				once := sync.OnceFunc(func() { handing.Go(func() { o.handsOver(a, latch) }) })
				o.leads(a, latch, func(ctx context.Context) error {
					once()
					return work(o, a)(ctx)
				})
			})
		}
	}
}

// handsOver has more time than the work needs to stop, unless the search ends its
// context. Then others do not wait for the work.
func (o *office) handsOver(a *explore.Actor, latch *leader.Latch) {
	lease := latch.Leadership()
	time.Sleep(2 * time.Second)
	var err error
	ended := false // by the search
	_ = a.Call("hand over", func(call context.Context) error {
		ctx, cancel := context.WithTimeout(call, time.Minute)
		defer cancel()
		defer context.AfterFunc(call, func() { o.isLate(a) })()
		err = latch.HandOver(ctx)
		if errors.Is(err, leader.ErrNotLeader) || errors.Is(err, leader.ErrNoSuccessor) {
			return nil // it is so, whatever becomes of the call
		}
		ended = call.Err() != nil
		return err
	})
	if err == nil && lease != nil && lease.Context().Err() == nil {
		o.world.Fail("%s has handed over, and its lease is alive", a.Name())
	}
	if err != nil && !errors.Is(err, leader.ErrNotLeader) && !errors.Is(err, leader.ErrNoSuccessor) && !ended && !isLeft(err) && !isEnd(a, err) {
		o.world.Fail("%s: HandOver returns %v", a.Name(), err)
	}
}
