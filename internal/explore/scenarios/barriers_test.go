package scenarios

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/barriers"
)

// enough is a time in which everything comes to its end that can.
const enough = 40 * time.Second

// patiently calls do under a context that ends when do has had enough time without
// faults. patiently returns stuck if the context has ended in this way.
func patiently(w *explore.World, ctx context.Context, do func(ctx context.Context) error) (stuck bool, err error) {
	begun := time.Now()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		for {
			left := enough - min(w.Quiet(), time.Since(begun))
			if left <= 0 {
				cancel(errStuck)
				return
			}
			select {
			case <-time.After(left):
			case <-ctx.Done():
				return
			}
		}
	}()
	err = do(ctx)
	if err != nil && context.Cause(ctx) == errStuck {
		return true, nil
	}
	return false, err
}

var errStuck = errors.New("stuck")

// sayGoodbye is how long Enter and Leave go on when their context has ended.
const sayGoodbye = time.Second

// gate has an actor who raises a barrier and lowers it again, and others who wait
// for that.
func gate(waiters int, own trouble, opts ...barriers.RaiseOption) explore.Scenario {
	return func(w *explore.World) {
		w.Stays("/barrier")          // if Lower gives up
		begun := make(chan struct{}) // closed when the barrier is up, or is not to come
		var raised *barriers.Raised  // what Raise has returned, until it is to be lowered
		var down time.Time           // when the barrier was down last
		refused := false             // Raise has said that it is not up, and will not be
		var gaveUp error             // the end of the context of Raise
		var raiser *explore.Actor
		var expiries int // of its sessions, when it was raised
		var first *explore.Actor
		up := false // now
		w.Always(func(tree explore.Tree) error {
			if _, up = tree["/barrier"]; !up {
				down = time.Now()
			}
			switch {
			case up && refused:
				return errors.New("the barrier is up, and Raise has said that it is not")
			case up || raised == nil:
				return nil
			case raised.Owner == 0:
				return errors.New("the barrier is down before Lower")
			case raised.Session.Context().Err() == nil && raiser.Expiries() == expiries:
				return errors.New("the barrier is down before its session has ended")
			}
			return nil
		})
		w.Actor("A", func(a *explore.Actor) {
			first = a
			barrier := barriers.NewBarrier(a.Client(), "/barrier")
			err := a.Call("raise", func(ctx context.Context) error {
				is, err := barrier.Raise(ctx, opts...)
				if err == nil {
					raised, raiser, expiries = &is, a, a.Expiries()
				}
				gaveUp = ctx.Err()
				return err
			})
			refused = err != nil && !reason.Is(err, framework.ErrOutcomeUnknown)
			if err != nil && gaveUp == nil && !isEnd(a, err) {
				w.Fail("Raise does not survive the faults: %v", err)
			}
			close(begun)
			own(a)
			time.Sleep(time.Second)
			raised = nil
			for err = errors.New("not lowered"); err != nil && !reason.Is(err, framework.ErrClosed); {
				err = a.Call("lower", func(ctx context.Context) error {
					wasUp := up
					err := barrier.Lower(ctx)
					if err != nil && ctx.Err() == nil && !isEnd(a, err) {
						w.Fail("Lower does not survive the faults: %v", err)
					}
					if err != nil && !reason.Is(err, framework.ErrOutcomeUnknown) && wasUp && !up && !raisedFor(opts) {
						w.Fail("the barrier is down, and Lower says that it has not lowered it: %v", err)
					}
					return err
				})
			}
			if err == nil && up {
				w.Fail("the barrier is up behind Lower")
			}
		})
		for _, name := range names(waiters + 1)[1:] {
			w.Actor(name, func(a *explore.Actor) {
				<-begun
				since, wasUp := time.Now(), up
				_ = a.Call("wait", func(ctx context.Context) error {
					stuck, err := patiently(w, ctx, barriers.NewBarrier(a.Client(), "/barrier").Wait)
					switch {
					case stuck && !first.Closed():
						w.Fail("%s waits forever for the barrier to fall", name)
					case err == nil && !stuck && wasUp && up && down.Before(since):
						w.Fail("%s has passed the barrier, which was up", name)
					case err != nil && ctx.Err() == nil && !isEnd(a, err):
						w.Fail("Wait does not survive the faults: %v", err)
					}
					return err
				})
			})
		}
	}
}

func TestBarrier(t *testing.T) { explore.Search(t, gate(2, none), quick()) }

func TestBarrierOfASession(t *testing.T) {
	explore.Search(t, gate(1, none, barriers.WithSession()), quick())
}

func TestBarrierOfALostSession(t *testing.T) {
	explore.Search(t, gate(1, expired, barriers.WithSession()), quick())
}

func TestBarrierInAnEnsemble(t *testing.T) {
	explore.Search(t, inEnsemble(gate(1, none)), quick())
}

// Raise and Lower are known to a Wait that begins behind them, whoever lags.
func TestBarrierWhoseFollowersLag(t *testing.T) {
	explore.Search(t, inEnsemble(gate(2, none), 0, time.Second), quick())
}

// raisedFor reports whether the barrier belongs to a session.
func raisedFor(opts []barriers.RaiseOption) bool { return len(opts) > 0 }

// member is an actor who has entered a double barrier.
type member struct {
	actor   *explore.Actor
	passage *barriers.Passage
	session int64     // the actor's, when it entered
	leaving bool      // it has called Leave
	left    bool      // Leave has returned nil
	others  []*member // who were inside when it called Leave
}

// inside reports whether the member works: it is not told to stop.
func (m *member) inside() bool {
	return !m.leaving && m.passage.Context().Err() == nil && !m.actor.HasExpired(m.session)
}

// checkRounds looks at all members, after each move. Leave of a member does not wait
// for those who come later.
func checkRounds(members []*member) error {
	for _, m := range members {
		for _, o := range m.others {
			if m.left && m != o && o.inside() {
				return fmt.Errorf("%s has left, and %s is still inside", m.actor.Name(), o.actor.Name())
			}
		}
	}
	return nil
}

// rendezvous has actors who want to be inside by twos, some times in a row.
func rendezvous(contenders, times int, first trouble) explore.Scenario {
	return meeting{trouble: first, n: 2}.of(contenders, times)
}

// of has that many actors, who come that many times.
func (plan meeting) of(contenders, times int) explore.Scenario {
	return func(w *explore.World) {
		plan := plan // of this run
		w.Node("/barrier", "")
		m := &plan
		m.world, m.mu = w, new(sync.Mutex)
		w.Always(func(tree explore.Tree) error {
			m.see(tree)
			return checkRounds(m.members)
		})
		for i, name := range names(contenders) {
			w.Actor(name, func(a *explore.Actor) {
				m.begin(a, i)
				for range times {
					m.join(a)
				}
			})
		}
		// It goes with the session, or with the next member, if a member was lost
		// after the others had given up their Leave.
		w.Stays("/barrier/ready")
		w.AtEnd(func(tree explore.Tree) error {
			delete(tree, "/barrier/ready")
			return nothingBelow("/barrier")(tree)
		})
	}
}

// meeting is a double barrier, and who is there.
type meeting struct {
	world   *explore.World
	trouble trouble         // of the first one, inside
	n       int             // how many open it
	hurry   bool            // all but the first give up their Leave after a second
	apart   time.Duration   // how long after one comes the next
	at      []time.Duration // or when each of them comes

	mu      *sync.Mutex // protects the following fields
	members []*member
	alone   []stuckMember // members whose wait has failed
	present int           // how many are between the beginning of their Enter and the end of their Leave, or of their node
	most    int           // how many there were at most since nobody was
	gaveUp  []time.Time   // when somebody has given up an Enter
	came    []arrival
	tree    explore.Tree
	behind  []string // nodes of members whose Leave has failed
}

// see is called after each move. A member whose Leave has given up in an outage is
// there for all others until the client has deleted its node, or the servers have.
func (m *meeting) see(tree explore.Tree) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tree = tree
	m.behind = slices.DeleteFunc(m.behind, func(path string) bool {
		_, there := tree[path]
		if !there {
			m.present--
		}
		return !there
	})
}

// gone notes that a member has left.
func (m *meeting) gone(one *member) {
	m.mu.Lock()
	defer m.mu.Unlock()
	path := "/barrier/" + one.passage.Name()
	if _, there := m.tree[path]; there && !one.left {
		m.behind = append(m.behind, path)
		return
	}
	m.present--
}

// arrival is somebody who has come, in a session.
type arrival struct {
	actor   *explore.Actor
	session int64
}

// isOver reports whether the session has ended, or will.
func (a arrival) isOver() bool {
	return a.actor.Closed() || a.actor.HasExpired(a.session) || a.actor.Client().SessionID() != a.session
}

// mayHaveClosed reports whether the barrier may have closed again before all members
// have received its opening. The barrier is open as long as the session of the member
// that has opened it. Members inside wait for members who do not enter then.
func (m *meeting) mayHaveClosed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.ContainsFunc(m.came, arrival.isOver)
}

// begin waits until it is time to arrive. Members are ordered by their arrival.
func (m *meeting) begin(a *explore.Actor, i int) {
	wait := time.Duration(i) * max(m.apart, time.Millisecond)
	if m.at != nil {
		wait = m.at[i]
	}
	time.Sleep(wait)
}

// inPeace reports whether nothing was done to those who were inside.
func (m *meeting) inPeace() bool {
	return !slices.ContainsFunc(m.members, func(one *member) bool { return one.actor.Disturbed() })
}

// stuckMember has waited for other members since a time.
type stuckMember struct {
	actor *explore.Actor
	since time.Time
}

// waitedForOthers notes that an actor has waited for members who did not arrive. If
// enough actors to open the barrier wait at the same time, they should have met.
func (m *meeting) waitedForOthers(a *explore.Actor, since time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	together := []string{a.Name()}
	for _, o := range m.alone {
		if !slices.Contains(together, o.actor.Name()) && since.Sub(o.since) < enough/2 {
			together = append(together, o.actor.Name())
		}
	}
	if len(together) >= m.n {
		m.world.Fail("%v have waited for each other", together)
	}
	m.alone = append(m.alone, stuckMember{a, since})
}

// join enters, works and leaves.
func (m *meeting) join(a *explore.Actor) {
	me := m.enter(a)
	if me == nil {
		return
	}
	defer m.gone(me)
	if a.Name() == "A" {
		m.trouble(a)
		if m.hurry {
			time.Sleep(10 * time.Second)
		}
	}
	time.Sleep(time.Second)
	m.leave(me)
}

// strays is how many have given up their Enter, whose nodes may be there still: for
// an outage that a client has to notice by itself, and a session that it has lost.
func (m *meeting) strays() (n int) {
	const bound = 8 * time.Second
	for _, at := range m.gaveUp {
		if min(time.Since(at), m.world.Quiet()) < bound {
			n++
		}
	}
	return n
}

// arrive notes that an actor wants to be inside.
func (m *meeting) arrive(a *explore.Actor) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.present == 0 {
		m.most = 0
	}
	m.came = append(m.came, arrival{a, a.Client().SessionID()})
	m.present++
	m.most = max(m.most, m.present)
}

func (m *meeting) enter(a *explore.Actor) (me *member) {
	barrier := barriers.NewDoubleBarrier(a.Client(), "/barrier", m.n)
	since := time.Now()
	m.arrive(a)
	defer func() {
		if me == nil {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.present--
			m.gaveUp = append(m.gaveUp, time.Now())
		}
	}()
	_ = a.CallWithin("enter", sayGoodbye, func(ctx context.Context) error {
		stuck, err := patiently(m.world, ctx, func(ctx context.Context) error {
			p, err := barrier.Enter(ctx)
			m.mu.Lock()
			defer m.mu.Unlock()
			if err == nil && m.most+m.strays() < m.n {
				m.world.Fail("%s is inside, and only %d have come", a.Name(), m.most)
			}
			if err == nil {
				me = &member{actor: a, passage: p, session: a.Client().SessionID()}
				m.members = append(m.members, me)
			}
			return err
		})
		if stuck {
			m.waitedForOthers(a, since)
		}
		return err
	})
	return me
}

func (m *meeting) leave(me *member) {
	m.mu.Lock()
	me.leaving = true
	for _, o := range m.members {
		if o.inside() {
			me.others = append(me.others, o)
		}
	}
	m.mu.Unlock()
	var outcome error
	err := me.actor.CallWithin("leave", sayGoodbye, func(ctx context.Context) error {
		hurry := m.hurry && me.actor.Name() != "A"
		if hurry {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, time.Second+m.apart*time.Duration(me.actor.Name()[0]-'A'))
			defer cancel()
		}
		stuck, err := patiently(m.world, ctx, me.passage.Leave)
		me.left = err == nil && !stuck
		if stuck && !m.mayHaveClosed() {
			m.world.Fail("%s waits forever for the others to leave", me.actor.Name())
		}
		outcome = err
		if hurry && ctx.Err() == context.DeadlineExceeded {
			return nil // that is the reason, and not what the search does
		}
		return err
	})
	err = cmp.Or(outcome, err)
	// It is both if the session is lost while the member says goodbye.
	if err != nil && !reason.Is(err, barriers.ErrNotLeft) && !reason.Is(err, framework.ErrSessionLost) && !isEnd(me.actor, err) {
		m.world.Fail("%s: leave ends with %v", me.actor.Name(), err)
	}
	if again := me.passage.Leave(context.Background()); fmt.Sprint(again) != fmt.Sprint(err) && me.knows(err) {
		m.world.Fail("%s: leave ends with %v, and then with %v", me.actor.Name(), err, again)
	}
}

// knows reports whether a Leave has returned what the member knows, and not the end of
// the test's patience.
func (m *member) knows(err error) bool { return err != nil || m.left }

func TestDoubleBarrierWhoseMembersGiveUp(t *testing.T) {
	explore.Search(t, meeting{trouble: none, n: 2, hurry: true}.of(2, 2), quick())
}

func TestDoubleBarrier(t *testing.T) { explore.Search(t, rendezvous(2, 1, none), quick()) }

func TestDoubleBarrierWithAnExpiry(t *testing.T) {
	explore.Search(t, rendezvous(2, 2, expired), quick())
}

func TestDoubleBarrierWhoseFollowersLag(t *testing.T) {
	explore.Search(t, inEnsemble(rendezvous(2, 2, none), 0, time.Second), quick())
}
