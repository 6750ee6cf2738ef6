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
