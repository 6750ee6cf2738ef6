// Package herd measures what the release of a lock costs when many clients wait for the
// lock. See README.md.
package herd

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// lock is one client's side of a lock.
type lock interface {
	acquire(ctx context.Context) error
	release(ctx context.Context) error
}

var designs = []struct {
	name string
	open func(c *framework.Client) lock
}{
	{"one-node", func(c *framework.Client) lock { return oneNode{c} }},
	{"watched-queue", func(c *framework.Client) lock { return &watchedQueue{client: c} }},
	{"InterProcessMutex", func(c *framework.Client) lock { return &mutex{m: locks.NewInterProcessMutex(c, "/lock")} }},
}

// waiters are the sizes of the crowds.
var waiters = []int{10, 100}

// oneNode is a lock that belongs to the client that has created the node. All other
// clients wait for its deletion, and then all try to create it. Chance decides which one
// succeeds. Neither oneNode nor watchedQueue handles lost replies and lost sessions.
type oneNode struct{ client *framework.Client }

func (l oneNode) acquire(ctx context.Context) error {
	for {
		_, err := l.client.Create(ctx, "/lock", nil, framework.WithMode(framework.Ephemeral))
		if !errors.Is(err, zk.ErrNodeExists) {
			return err
		}
		exists, _, watch, err := l.client.ExistsW(ctx, "/lock")
		if err != nil {
			return err
		}
		if exists {
			_, err = watch.Wait(ctx)
		}
		watch.Stop()
		if err != nil {
			return err
		}
	}
}

func (l oneNode) release(ctx context.Context) error {
	return l.client.Delete(ctx, "/lock", framework.AnyVersion)
}

// watchedQueue is a lock that belongs to the first client in a queue of sequential nodes.
// All clients watch the whole queue: each arrival and each departure wakes all of them,
// and each of them lists all names.
type watchedQueue struct {
	client *framework.Client
	node   string
}

func (l *watchedQueue) acquire(ctx context.Context) error {
	created, err := l.client.Create(ctx, "/queue/lock-", nil,
		framework.WithMode(framework.EphemeralSequential), framework.WithParents())
	if err != nil {
		return err
	}
	l.node = created.Path
	for {
		queue, _, watch, err := l.client.ChildrenW(ctx, "/queue")
		if err != nil {
			return err
		}
		if slices.Min(queue) == path.Base(l.node) {
			return nil // the watch stays until the next change: removing it would cost a request
		}
		if _, err := watch.Wait(ctx); err != nil {
			return err
		}
	}
}

func (l *watchedQueue) release(ctx context.Context) error {
	return l.client.Delete(ctx, l.node, framework.AnyVersion)
}

// mutex is the library's lock: a queue in which each client watches the client ahead.
type mutex struct {
	m     *locks.InterProcessMutex
	lease *locks.Lease
}

func (l *mutex) acquire(ctx context.Context) (err error) {
	l.lease, err = l.m.Acquire(ctx)
	return err
}

func (l *mutex) release(ctx context.Context) error { return l.lease.Release(ctx) }

// client is a client that holds the lock or waits for it.
type client struct {
	lock
	session int64
	err     error // of acquire
}

// crowd is a lock with one holder and many waiters, each of which has set its watch.
type crowd struct {
	testing.TB
	srv      *zktest.Server
	holder   *client
	waiting  []*client
	acquired chan *client
}

func newCrowd(tb testing.TB, open func(*framework.Client) lock, n int) *crowd {
	c := &crowd{TB: tb, srv: zktest.Start(tb), acquired: make(chan *client, n+1)}
	for i := range n + 1 {
		conn := curatortest.Connect(tb, c.srv)
		c.arrive(&client{lock: open(conn), session: conn.SessionID()})
		if i == 0 {
			c.holder = c.next()
		}
	}
	c.settle()
	// The second and the third contender of a new queue set one watch more. These two leave.
	for range 3 {
		c.turn()
	}
	return c
}

func (c *crowd) arrive(l *client) {
	c.waiting = append(c.waiting, l)
	go func() {
		l.err = l.acquire(c.Context())
		c.acquired <- l
	}()
}

// next waits for the next holder of the lock.
func (c *crowd) next() *client {
	l := <-c.acquired
	require.NoError(c, l.err)
	c.waiting = slices.DeleteFunc(c.waiting, func(other *client) bool { return other == l })
	return l
}

// settle waits until all waiters have a watch at the same time: a waiter has no watch
// while it acts on an event, or before it has joined the queue.
func (c *crowd) settle() {
	require.NoError(c, c.srv.WaitFor(c.Context(), func() bool {
		watching := map[int64]bool{}
		for _, w := range c.srv.Watches() {
			watching[w.Session] = true
		}
		return !slices.ContainsFunc(c.waiting, func(l *client) bool { return !watching[l.session] })
	}))
}

// counts are what reached the server, and what the server sent without being asked.
type counts struct{ requests, events int }

func (c *crowd) count(what func()) counts {
	c.srv.ClearRequests()
	what()
	c.settle()
	return counts{c.srv.CountRequests(zktest.OpAny), c.srv.Stats().Notifications}
}

// turn lets the holder leave until the next client has the lock and all others wait, and
// lets the former holder queue again until all wait.
func (c *crowd) turn() (release, arrival counts) {
	former := c.holder
	release = c.count(func() {
		require.NoError(c, former.release(c.Context()))
		c.holder = c.next()
	})
	return release, c.count(func() { c.arrive(former) })
}

// TestHerd checks the table of README.md.
func TestHerd(t *testing.T) {
	for _, n := range waiters {
		for i, want := range []struct{ release, arrival counts }{
			// All waiters try to create the node, and all but one watch it again.
			{counts{requests: 1 + n + n - 1, events: n}, counts{requests: 2}},
			// All waiters list the queue. The holder is woken by an arrival, too, and ignores it.
			{counts{requests: 1 + n, events: n}, counts{requests: 1 + n, events: n}},
			// The next client lists the queue. A newcomer creates its node, lists and watches.
			{counts{requests: 2, events: 1}, counts{requests: 3}},
		} {
			t.Run(fmt.Sprintf("%s/%d", designs[i].name, n), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					crowd := newCrowd(t, designs[i].open, n)
					for range 3 {
						release, arrival := crowd.turn()
						require.Equal(t, want.release, release)
						require.Equal(t, want.arrival, arrival)
					}
				})
			})
		}
	}
}

// BenchmarkHerd prints the table of README.md, and the time of a turn. It runs on the
// wall clock, and a client that has waited for a while may read who the holder is. The
// medians leave these few requests out.
func BenchmarkHerd(b *testing.B) {
	for _, d := range designs {
		for _, n := range waiters {
			b.Run(fmt.Sprintf("%s/waiters=%d", d.name, n), func(b *testing.B) {
				crowd := newCrowd(b, d.open, n)
				values := map[string][]int{}
				for b.Loop() {
					release, arrival := crowd.turn()
					for unit, value := range map[string]int{
						"requests/release": release.requests, "events/release": release.events,
						"requests/arrival": arrival.requests, "events/arrival": arrival.events,
					} {
						values[unit] = append(values[unit], value)
					}
				}
				for unit, all := range values {
					slices.Sort(all)
					b.ReportMetric(float64(all[len(all)/2]), unit)
				}
			})
		}
	}
}
