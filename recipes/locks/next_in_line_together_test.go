package locks_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// trickle is a network on which data arrives in small pieces, once it is on, so
// that two events are not read at once. What the server has sent before it closes
// a connection still arrives.
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

// As with TCP, a write to a peer that has just closed the connection succeeds.
func (c *trickling) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if err != nil && c.of.on.Load() {
		return len(p), nil
	}
	return n, err
}

func (c *trickling) SetReadDeadline(at time.Time) error {
	if err := c.Conn.SetReadDeadline(at); err != nil && !c.of.on.Load() {
		return err
	}
	return nil
}

func (c *trickling) SetWriteDeadline(at time.Time) error {
	if err := c.Conn.SetWriteDeadline(at); err != nil && !c.of.on.Load() {
		return err
	}
	return nil
}

// nextOf returns the node of the one that waits behind a lease.
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

// A session ends at the server, because a follower could not tell the leader of it
// for long enough, for example. That deletes the nodes of the holder and of the
// next one, an object of the same client, in one transaction, in any order. The
// server closes the connection then, and with it goes what it has not sent yet.
// Another client has the lock since.
//
// Promise: The end of the session admits no waiter of that session.
func TestNextInLineIsNotAdmittedByTheEndOfItsSession(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		slow := &trickle{dial: w.Dial}
		c, _ := w.Connect(t, framework.WithDialer(slow.Dial))
		three, _ := w.Connect(t)
		holder := hold(t, w.Patience(t), mutexAt(c))
		next := take(w.Patience(t), locks.NewInterProcessMutex(c, "/l", locks.WithoutIdentity()))
		time.Sleep(time.Second)
		node := w.nextOf(holder)
		third := take(w.Patience(t), mutexAt(three))
		time.Sleep(time.Second)
		slow.on.Store(true)
		// The fake's Expire drops both events, or none. So this is the session's end in
		// two steps.
		w.deleteTogether(t, holder.Path(), node)
		for range 6 { // the first event has come, and not the second
			time.Sleep(time.Millisecond)
			synctest.Wait()
			if next.IsOver() || holder.Context().Err() != nil {
				break
			}
		}
		w.Fake.RefuseConnections(true) // a moment without a network
		w.Fake.Session(c.SessionID()).Expire()
		third.Wait(t)
		time.Sleep(100 * time.Millisecond)
		require.False(t, next.IsOver(), "admitted by the end of its own session")
	})
}
