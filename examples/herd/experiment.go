package main

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/gocurator/curator/framework"
)

// cost is the average cost of a design.
type cost struct {
	design  string
	waiters int
	// release is the cost from a release until the next client holds the lock
	// and all others wait again.
	release counts
	// arrival is the cost from the arrival of one more client until all wait.
	arrival counts
}

// client is a client that wants the lock.
type client struct {
	zk *framework.Client
	lock
}

// experiment is a lock with one holder and many waiters. The goroutine that
// runs the experiment owns the fields.
type experiment struct {
	env     environment
	traffic *traffic
	all     []*client
	waiting []*client
	// All clients have been connected. Before that, no client has created a node.
	connected bool
	// Sent by clients that acquired the lock or failed; unbuffered.
	results chan acquireResult
	waits   sync.WaitGroup
}

// acquireResult is the end of a client's wait.
type acquireResult struct {
	client *client
	err    error
}

// measure returns the cost of a design with this number of waiters. It leaves
// only the container node /herd on the server, which the server removes when it
// is empty.
func measure(ctx context.Context, cfg config, d design, waiters int) (c cost, err error) {
	a, err := newEnvironment(cfg)
	if err != nil {
		return cost{}, err
	}
	defer a.close()
	ctx, cancel := context.WithCancel(ctx)
	e := &experiment{env: a, traffic: newTraffic(), results: make(chan acquireResult)}
	defer func() { err = errors.Join(err, e.cleanUp(ctx)) }()
	defer e.waits.Wait()
	defer cancel()
	if err := e.connect(ctx, d, waiters+1); err != nil {
		return cost{}, err
	}
	c = cost{design: d.name, waiters: waiters}
	err = e.run(ctx, cfg.releases, &c)
	return c, err
}

// sessionTimeout is long because many clients on a small machine are slow.
const sessionTimeout = 40 * time.Second

// atOnce is how many clients connect at once. ZooKeeper counts the connections of an
// address a moment after it has accepted them. If many clients connect at once to a
// busy machine, it may accept more than maxClientCnxns.
const atOnce = 4

func (e *experiment) connect(ctx context.Context, d design, n int) error {
	for i := range n + atOnce {
		if i < n {
			c, err := framework.New(e.env.servers,
				framework.WithDialer(e.traffic.dialer(i, e.env.dial)),
				framework.WithSessionTimeout(sessionTimeout))
			if err != nil {
				return err
			}
			e.all = append(e.all, &client{c, d.open(c, path.Join(e.env.root, "lock"))})
		}
		if at := i - atOnce; at >= 0 {
			if _, err := e.all[at].zk.Session(ctx); err != nil {
				return fmt.Errorf("client %d of %d has no session%s: %w", at+1, n, e.env.hint(at), err)
			}
		}
	}
	e.connected = true
	return nil
}

// run fills in the averages. The first client takes the lock and the others
// queue. After each release the client that had the lock queues again, so that
// the number of waiters stays the same.
func (e *experiment) run(ctx context.Context, releases int, c *cost) error {
	holder := e.all[0]
	if err := holder.acquire(ctx); err != nil {
		return err
	}
	for _, w := range e.all[1:] {
		e.queue(ctx, w)
	}
	if err := e.waitIdle(ctx); err != nil {
		return err
	}
	e.traffic.take()
	for range releases {
		next, err := e.handOver(ctx, holder)
		if err != nil {
			return err
		}
		c.release = c.release.add(e.traffic.take())
		e.queue(ctx, holder)
		if err := e.waitIdle(ctx); err != nil {
			return err
		}
		c.arrival = c.arrival.add(e.traffic.take())
		holder = next
	}
	c.release, c.arrival = c.release.average(releases), c.arrival.average(releases)
	return nil
}

func (e *experiment) queue(ctx context.Context, c *client) {
	e.waiting = append(e.waiting, c)
	e.waits.Go(func() {
		err := c.acquire(ctx)
		select {
		case e.results <- acquireResult{c, err}:
		case <-ctx.Done():
		}
	})
}

// handOver makes the holder release the lock and returns the next holder.
func (e *experiment) handOver(ctx context.Context, holder *client) (*client, error) {
	if err := holder.release(ctx); err != nil {
		return nil, err
	}
	select {
	case next := <-e.results:
		if next.err != nil {
			return nil, next.err
		}
		e.waiting = without(e.waiting, next.client)
		return next.client, e.waitIdle(ctx)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (e *experiment) waitIdle(ctx context.Context) error {
	return e.env.waitIdle(ctx, e.traffic, e.waiting)
}

// cleanUp closes the clients. The last client deletes the experiment's nodes, even if
// ctx has ended. There are no nodes if a client has never been connected.
func (e *experiment) cleanUp(ctx context.Context) error {
	if !e.connected {
		for _, c := range e.all {
			c.zk.Close()
		}
		return nil
	}
	last := e.all[0].zk
	defer last.Close()
	var closing sync.WaitGroup
	for _, c := range e.all[1:] {
		closing.Go(func() { c.zk.Close() })
	}
	closing.Wait() // After this the other clients have no nodes left.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	err := last.Delete(ctx, e.env.root, framework.AnyVersion, framework.WithChildren(), framework.WithMissingOK())
	if err != nil {
		return fmt.Errorf("%s is left on the servers: %w", e.env.root, err)
	}
	return nil
}

func without(list []*client, c *client) []*client {
	return slices.DeleteFunc(list, func(other *client) bool { return other == c })
}
