package locks_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// trickle is a network on which data arrives in small pieces, once it is on, so
// that two events are not read at once.
type trickle struct {
	dial framework.DialFunc
	on   atomic.Bool
}

func (s *trickle) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	nc, err := s.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c := &trickling{Conn: nc, of: s, sent: make(chan []byte, 10000)}
	go func() {
		defer close(c.sent)
		for {
			p := make([]byte, 4096)
			n, err := nc.Read(p)
			for i := 0; i < n; i += 20 {
				c.sent <- p[i:min(i+20, n)]
			}
			if err != nil {
				c.err = err
				return
			}
		}
	}()
	return c, nil
}

type trickling struct {
	net.Conn
	of   *trickle
	sent chan []byte
	rest []byte
	err  error
}

func (c *trickling) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		some, ok := <-c.sent
		if !ok {
			return 0, c.err
		}
		if c.of.on.Load() {
			time.Sleep(time.Millisecond)
		}
		c.rest = some
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// nextOf returns the node of the waiter behind a lease.
func (w *world) nextOf(l *locks.Lease) string {
	for _, name := range w.Fake.Children("/l") {
		if "/l/"+name != l.Path() {
			return "/l/" + name
		}
	}
	return ""
}

// deleteTogether deletes two nodes in one transaction.
func (w *world) deleteTogether(t *testing.T, one, two string) {
	t.Helper()
	_, err := w.Observer.Transaction(t.Context(),
		framework.DeleteOp(one, framework.AnyVersion), framework.DeleteOp(two, framework.AnyVersion))
	require.NoError(t, err)
}

// As TestNextInLineHasNothingWithoutItsNode, but the holder's node goes first. The
// next one's own watch fires a moment behind the event that makes it the holder.
// It ought to be told then, and not a second later.
//
// Promise: A node that was deleted right after the grant ends the lease.
func TestOwnWatchThatFiresBehindTheGrantIsHeard(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		slow := &trickle{dial: w.Dial}
		one, _ := w.Connect(t)
		two, _ := w.Connect(t, framework.WithDialer(slow.Dial))
		holder := hold(t, w.Patience(t), mutexAt(one))
		next := take(w.Patience(t), mutexAt(two))
		time.Sleep(time.Second)
		node := w.nextOf(holder)
		three, _ := w.Connect(t)
		third := take(w.Patience(t), mutexAt(three))
		time.Sleep(time.Second)
		slow.on.Store(true)
		w.deleteTogether(t, holder.Path(), node)
		time.Sleep(100 * time.Millisecond) // all events are there
		third.Wait(t)
		if next.IsOver() && next.Err == nil {
			require.Equal(t, node, next.Lease.Path())
			require.Error(t, next.Lease.Context().Err(), "another client has the lock, and the own watch has fired")
		}
		require.NoError(t, third.Lease.Release(t.Context()))
	})
}
