package claim

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

var allStates = []State{Held, Lost, Releasing, HandedOver, Kept, Released}

// The diagram of the package documentation, edge by edge.
func TestEveryTransition(t *testing.T) {
	allowed := map[[2]State]bool{
		{Held, Lost}: true, {Held, Releasing}: true,
		{Lost, Kept}: true, {Lost, Released}: true,
		{Releasing, HandedOver}: true, {Releasing, Released}: true,
	}
	for _, from := range allStates {
		for _, to := range allStates {
			c := &Claim{state: from}
			require.Equal(t, allowed[[2]State{from, to}], c.become(to), "%v to %v", from, to)
			if !allowed[[2]State{from, to}] {
				require.Equal(t, from, c.State(), "%v to %v", from, to)
			}
		}
	}
}

func TestFinalStatesAreThoseThatEndAClaim(t *testing.T) {
	for _, s := range allStates {
		final := s == HandedOver || s == Kept || s == Released
		require.Equal(t, final, s.final(), s)
		before := &Claim{state: s}
		over := before.Over()
		select {
		case <-over:
			require.True(t, final, s)
		default:
			require.False(t, final, s)
		}
	}
	c := &Claim{state: Held}
	over := c.Over()
	require.True(t, c.become(Releasing))
	select {
	case <-over:
		require.Fail(t, "it is not over yet")
	default:
	}
	require.True(t, c.become(Released))
	<-over
}

func TestStatesHaveNames(t *testing.T) {
	require.Equal(t, "handed over", HandedOver.String())
	require.Equal(t, "State(17)", State(17).String())
}

// A claim whose context has ended may still be Held: the session ends all
// contexts before it tells one of its claims. The following tests stop at that
// moment.

func heldClaim(t *testing.T, opts ...framework.Option) (*Claim, *zktest.Server) {
	srv := zktest.Start(t)
	c, err := framework.New(srv.Addr(), append(opts, framework.WithDialer(srv.Dialer()))...)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	node, err := c.Create(t.Context(), "/n", nil, framework.WithMode(framework.Ephemeral))
	require.NoError(t, err)
	held := New(Terms{Client: c, Key: "key"}, node)
	require.NotNil(t, held)
	return held, srv
}

type countingPlace struct{ freed atomic.Int32 }

func (p *countingPlace) Asked()                              {}
func (p *countingPlace) Free()                               { p.freed.Add(1) }
func (p *countingPlace) PassOn(context.Context, *Claim) bool { return false }

// A latch is shut down when its leadership is interrupted.
func TestStopOfAClaimThatIsBeingSuspended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := heldClaim(t)
		c.First(t.Context())
		c.Watch()
		c.end(framework.ErrSuspended)
		c.Stop()
		require.Equal(t, Held, c.State(), "it is not being released")
		require.True(t, c.Keep())
		<-c.Over()
	})
}

// The session ends between two steps of Dissolve, whichever they are.
func TestDissolveOfAClaimThatIsBeingLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := heldClaim(t)
		c.First(t.Context())
		c.end(framework.ErrSessionLost)
		require.NoError(t, c.Dissolve(t.Context()))
		require.ErrorIs(t, context.Cause(c.Context()), framework.ErrSessionLost)
		<-c.Over()
		require.Equal(t, Released, c.State())
	})
}

// A place that arrives after the end of the context is freed, although nothing
// tells the claim of that end.
func TestPlaceOfAClaimThatIsBeingLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := heldClaim(t)
		c.end(ErrNodeDeleted)
		var place countingPlace
		c.Occupy(&place)
		require.EqualValues(t, 1, place.freed.Load())
		require.Equal(t, Lost, c.State())
	})
}

// A node is deleted while the claim is handed over: the watcher has already
// found the owner, and waits.
func TestNodeIsDeletedDuringAHandOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := heldClaim(t)
		c.become(Releasing)
		end, entered, goOn := c.end, make(chan struct{}), make(chan struct{})
		var once sync.Once
		c.end = func(err error) {
			once.Do(func() {
				close(entered)
				<-goOn
			})
			end(err)
		}
		deleted := make(chan struct{})
		go func() {
			defer close(deleted)
			c.watcher.deleted()
		}()
		<-entered
		next := make(chan *Claim)
		go func() { next <- c.Successor() }()
		close(goOn)
		<-deleted
		if successor := <-next; successor != nil {
			var place countingPlace
			successor.Occupy(&place)
			require.Equal(t, Lost, successor.State())
			require.EqualValues(t, 1, place.freed.Load())
		}
	})
}

// A tracer may give the lease a context of its own, and end it.
func TestLeaseWhoseContextTheTracerEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := heldClaim(t)
		var place countingPlace
		lease := c.First(t.Context())
		c.Occupy(&place)
		work, cancel := context.WithCancel(lease.held())
		lease.workIn(work)
		cancel()
		require.ErrorIs(t, lease.Release(t.Context()), context.Canceled)
		require.Equal(t, Released, c.State())
		require.Positive(t, place.freed.Load())
	})
}

// A lease of several locks has waited for requests. After its release, nothing
// is left of that.
func TestReleaseOfSeveralStopsWaitingForRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := heldClaim(t)
		first := c.First(t.Context())
		again, err := Reenter(first.Context(), "key")
		require.NoError(t, err)
		all := Several(t.Context())
		all.Add(again)
		asked := all.Requested()
		require.NoError(t, all.Release(t.Context()))
		c.Request()
		synctest.Wait()
		select {
		case <-asked:
			require.Fail(t, "a released lease hears of nothing")
		default:
		}
	})
}

func TestReleasedSeveralDoNotBeginToWaitForRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := heldClaim(t)
		first := c.First(t.Context())
		again, err := Reenter(first.Context(), "key")
		require.NoError(t, err)
		all := Several(t.Context())
		all.Add(again)
		require.NoError(t, all.Release(t.Context()))
		asked := all.Requested()
		c.Request()
		synctest.Wait()
		select {
		case <-asked:
			require.Fail(t, "a released lease hears of nothing")
		default:
		}
	})
}
