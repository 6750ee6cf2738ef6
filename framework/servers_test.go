package framework_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// network is where the servers of a test are: addresses at which the same
// ensemble can be reached, or not.
type network struct {
	srv *zktest.Server

	mu    sync.Mutex // protects the following fields
	alive []string   // nil means all
	tries []try
}

type try struct {
	address string
	at      time.Time
}

func (n *network) dial(ctx context.Context, nw, address string) (net.Conn, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.tries = append(n.tries, try{address, time.Now()})
	if n.alive != nil && !slices.Contains(n.alive, address) {
		return nil, &net.OpError{Op: "dial", Net: nw, Err: syscall.ECONNREFUSED}
	}
	return n.srv.Dialer()(ctx, nw, address)
}

func (n *network) setAlive(addresses ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.alive = addresses
	if n.alive == nil {
		n.alive = []string{}
	}
}

// tried returns the addresses of the attempts since the last call.
func (n *network) tried() []string {
	synctest.Wait()
	n.mu.Lock()
	defer n.mu.Unlock()
	var list []string
	for _, t := range n.tries {
		list = append(list, t.address)
	}
	n.tries = nil
	return list
}

// onNetwork runs a test in virtual time with a server that has many addresses.
func onNetwork(t *testing.T, test func(t *testing.T, n *network)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, &network{srv: zktest.Start(t)}) })
}

// client returns a client for a connection string.
func (n *network) client(t *testing.T, connectString string, opts ...framework.Option) *framework.Client {
	t.Helper()
	c, err := framework.New(connectString, append([]framework.Option{
		framework.WithDialer(n.dial), framework.WithSessionTimeout(sessionTimeout),
	}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

// list is a function for WithServers whose answer can be changed.
type list struct {
	mu      sync.Mutex
	servers []string
	err     error
	asked   int
}

func (l *list) ask(context.Context) ([]string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked++
	return l.servers, l.err
}

func (l *list) set(err error, servers ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.servers, l.err = servers, err
}

func (l *list) times() int {
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.asked
}

func TestEveryServerIsTriedOnceBeforeAnyPause(t *testing.T) {
	onNetwork(t, func(t *testing.T, n *network) {
		n.setAlive()
		begin := time.Now()
		n.client(t, "a,b,c,d")
		time.Sleep(4 * time.Second)
		n.mu.Lock()
		tries := slices.Clone(n.tries)
		n.mu.Unlock()
		require.Greater(t, len(tries), 5*4)
		pause := 50 * time.Millisecond
		for i := 0; i+4 <= len(tries); i += 4 {
			var round []string
			for _, try := range tries[i : i+4] {
				require.Equal(t, tries[i].at, try.at, "no pause within a round")
				round = append(round, try.address)
			}
			require.ElementsMatch(t, []string{"a:2181", "b:2181", "c:2181", "d:2181"}, round)
			if i == 0 {
				require.Equal(t, begin, tries[i].at)
				continue
			}
			waited := tries[i].at.Sub(tries[i-4].at)
			require.InDelta(t, pause, waited, float64(pause)/2+1, "round %d", i/4)
			pause = min(2*pause, time.Second)
		}
	})
}

func TestClientsSpreadOverTheEnsemble(t *testing.T) {
	onNetwork(t, func(t *testing.T, n *network) {
		orders := map[string]bool{}
		for range 100 {
			n.setAlive()
			c := n.client(t, "a,b,c")
			synctest.Wait()
			c.Close()
			orders[fmt.Sprint(n.tried()[:3])] = true
		}
		require.Len(t, orders, 6, "every order is as likely")
	})
}

func TestSessionMovesToAServerThatLives(t *testing.T) {
	onNetwork(t, func(t *testing.T, n *network) {
		servers := []string{"a:2181", "b:2181", "c:2181", "d:2181"}
		c := n.client(t, "a,b,c,d")
		require.NoError(t, c.WaitConnected(t.Context()))
		id := c.SessionID()
		h := observe(t, c)
		for i := range 8 {
			alive := servers[i%4]
			n.setAlive(alive)
			n.tried()
			n.srv.CutAll()
			time.Sleep(2 * time.Second)
			tried := n.tried()
			require.LessOrEqual(t, len(tried), 4)
			require.Equal(t, alive, tried[len(tried)-1])
		}
		require.Equal(t, id, c.SessionID())
		require.Len(t, n.srv.Sessions(), 1)
		for i, s := range h.seen() {
			require.Equal(t, [...]state.State{state.Suspended, state.Reconnected}[i%2], s)
		}
	})
}

// The server that has just failed is the last to be asked again.
func TestReconnectBeginsWithTheNextServer(t *testing.T) {
	onNetwork(t, func(t *testing.T, n *network) {
		c := n.client(t, "a,b,c")
		require.NoError(t, c.WaitConnected(t.Context()))
		order := n.tried()
		for range 5 {
			time.Sleep(10 * time.Second)
			n.srv.CutAll()
			order = append(order, n.tried()...)
		}
		require.Len(t, order, 6)
		require.Equal(t, order[:3], order[3:])
		require.ElementsMatch(t, []string{"a:2181", "b:2181", "c:2181"}, order[:3])
	})
}

func TestMuteServersLeaveTimeForTheLastOne(t *testing.T) {
	onNetwork(t, func(t *testing.T, n *network) {
		n.setAlive("d:2181")
		hang := func(ctx context.Context, nw, address string) (net.Conn, error) {
			if nc, err := n.dial(ctx, nw, address); err == nil {
				return nc, nil
			}
			<-ctx.Done()
			return nil, ctx.Err()
		}
		begin := time.Now()
		c := n.client(t, "a,b,c,d", framework.WithDialer(hang))
		require.NoError(t, c.WaitConnected(t.Context()))
		require.LessOrEqual(t, time.Since(begin), noticesMute)
	})
}

func TestChangedServersTakeEffectAtTheNextReconnectAndTheSessionGoesOn(t *testing.T) {
	onNetwork(t, func(t *testing.T, n *network) {
		l := &list{servers: []string{"b", "b:2181", " c:2182"}}
		c := n.client(t, "a", framework.WithServers(l.ask))
		require.NoError(t, c.WaitConnected(t.Context()))
		require.Subset(t, []string{"b:2181", "c:2182"}, n.tried(), "the first round asks already")
		id := c.SessionID()

		l.set(nil, "d:2181", "e:2181")
		n.setAlive("e:2181")
		time.Sleep(time.Hour)
		require.Empty(t, n.tried(), "while there is a connection, it stays")
		require.Equal(t, 1, l.times())

		n.srv.CutAll()
		time.Sleep(time.Second)
		tried := n.tried()
		require.Subset(t, []string{"d:2181", "e:2181"}, tried)
		require.Equal(t, "e:2181", tried[len(tried)-1])
		require.True(t, c.State().IsConnected())
		require.Equal(t, id, c.SessionID())
		require.Equal(t, 2, l.times())
	})
}

func TestKnownServersStayWhenThereIsNoGoodAnswer(t *testing.T) {
	for name, answer := range map[string]struct {
		servers []string
		err     error
		text    string
	}{
		"an error":     {[]string{"b"}, errors.New("registry is down"), "registry is down"},
		"no servers":   {nil, nil, "must not be empty"},
		"a bad server": {[]string{"a", "b:0"}, nil, "invalid port"},
	} {
		t.Run(name, func(t *testing.T) {
			onNetwork(t, func(t *testing.T, n *network) {
				l := &list{servers: []string{"a"}}
				c := n.client(t, "x", framework.WithServers(l.ask), framework.WithConnectionTimeout(time.Second))
				require.NoError(t, c.WaitConnected(t.Context()))
				n.tried()
				n.setAlive()
				l.set(answer.err, answer.servers...)
				time.Sleep(2 * time.Second)
				n.srv.CutAll()
				_, _, err := c.Get(t.Context(), "/")
				require.ErrorIs(t, err, framework.ErrNotConnected)
				require.ErrorContains(t, err, answer.text)
				require.ErrorContains(t, err, "connection refused")
				require.Contains(t, n.tried(), "a:2181")

				n.setAlive("a:2181")
				require.NoError(t, c.WaitConnected(t.Context()))
				l.set(nil, "b")
				n.setAlive("b:2181")
				time.Sleep(2 * time.Second)
				n.srv.CutAll()
				require.NoError(t, c.WaitConnected(t.Context()))
				n.setAlive()
				n.srv.CutAll()
				_, _, err = c.Get(t.Context(), "/")
				require.ErrorIs(t, err, framework.ErrNotConnected)
				require.NotContains(t, err.Error(), answer.text, "the answer is good again")
			})
		})
	}
}

func TestServersFuncThatHangsIsGivenUp(t *testing.T) {
	onNetwork(t, func(t *testing.T, n *network) {
		begin := time.Now()
		c := n.client(t, "a,b,c", framework.WithServers(func(ctx context.Context) ([]string, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}))
		require.NoError(t, c.WaitConnected(t.Context()))
		require.Equal(t, noticesMute/4, time.Since(begin), "a share of its own beside the three servers")
		n.setAlive()
		n.srv.CutAll()
		time.Sleep(time.Millisecond)
		begin = time.Now()
		require.NoError(t, c.Close())
		require.Less(t, time.Since(begin), 2*time.Second, "and does not hold up Close")
	})
}
