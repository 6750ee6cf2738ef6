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

// cost is what a design costs, on average.
type cost struct {
	design  string
	waiters int
	release counts // of the lock, until its next holder has it and all others wait again
	arrival counts // of one more waiter, until all wait
}

// client is one that wants the lock.
type client struct {
	zk *framework.Client
	lock
}

// experiment is a lock with one holder and many waiters. Its state belongs to the goroutine that runs it.
type experiment struct {
	arena   arena
	traffic *traffic
	all     []*client
	waiting []*client
	came    chan arrived // unbuffered; from the clients that wait
	queued  sync.WaitGroup
}

// arrived is a client that waits no more.
type arrived struct {
	at  *client
	err error
}

// measure returns what a design costs with so many waiters. It leaves nothing behind but for /herd, a container that the
// server removes when it is empty.
func measure(ctx context.Context, cfg config, d design, waiters int) (c cost, err error) {
	a, err := newArena(cfg)
	if err != nil {
		return cost{}, err
	}
	defer a.close()
	ctx, cancel := context.WithCancel(ctx)
	e := &experiment{arena: a, traffic: newTraffic(), came: make(chan arrived)}
	defer func() { err = errors.Join(err, e.cleanUp(ctx)) }()
	defer e.queued.Wait()
	defer cancel()
	if err := e.connect(ctx, d, waiters+1); err != nil {
		return cost{}, err
	}
	c = cost{design: d.name, waiters: waiters}
	err = e.run(ctx, cfg.releases, &c)
	return c, err
}

// sessionTimeout is long, because many clients on a small machine are slow.
const sessionTimeout = 40 * time.Second

func (e *experiment) connect(ctx context.Context, d design, n int) error {
	for i := range n {
		c, err := framework.New(e.arena.servers,
			framework.WithDialer(e.traffic.dialer(i, e.arena.dial)),
			framework.WithSessionTimeout(sessionTimeout))
		if err != nil {
			return err
		}
		e.all = append(e.all, &client{c, d.open(c, path.Join(e.arena.root, "lock"))})
	}
	for _, c := range e.all {
		if _, err := c.zk.Session(ctx); err != nil {
			return err
		}
	}
	return nil
}

// run fills in the averages. The first client takes the lock, the others queue, and with each release the one that has
// had the lock queues again, so that there are as many waiters as before.
func (e *experiment) run(ctx context.Context, releases int, c *cost) error {
	holder := e.all[0]
	if err := holder.acquire(ctx); err != nil {
		return err
	}
	for _, w := range e.all[1:] {
		e.queue(ctx, w)
	}
	if err := e.rest(ctx); err != nil {
		return err
	}
	e.traffic.take()
	for range releases {
		next, err := e.handOver(ctx, holder)
		if err != nil {
			return err
		}
		c.release = c.release.plus(e.traffic.take())
		e.queue(ctx, holder)
		if err := e.rest(ctx); err != nil {
			return err
		}
		c.arrival = c.arrival.plus(e.traffic.take())
		holder = next
	}
	c.release, c.arrival = c.release.over(releases), c.arrival.over(releases)
	return nil
}

func (e *experiment) queue(ctx context.Context, c *client) {
	e.waiting = append(e.waiting, c)
	e.queued.Go(func() {
		err := c.acquire(ctx)
		select {
		case e.came <- arrived{c, err}:
		case <-ctx.Done():
		}
	})
}

// handOver makes the holder release the lock, and returns the next one.
func (e *experiment) handOver(ctx context.Context, holder *client) (*client, error) {
	if err := holder.release(ctx); err != nil {
		return nil, err
	}
	select {
	case next := <-e.came:
		if next.err != nil {
			return nil, next.err
		}
		e.waiting = without(e.waiting, next.at)
		return next.at, e.rest(ctx)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (e *experiment) rest(ctx context.Context) error {
	return e.arena.rest(ctx, e.traffic, e.waiting)
}

// cleanUp closes the clients. The last one removes what was made, although ctx may have ended.
func (e *experiment) cleanUp(ctx context.Context) error {
	if len(e.all) == 0 {
		return nil
	}
	last := e.all[0].zk
	defer last.Close()
	var closing sync.WaitGroup
	for _, c := range e.all[1:] {
		closing.Go(func() { c.zk.Close() })
	}
	closing.Wait() // their nodes are gone
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	err := last.Delete(ctx, e.arena.root, framework.AnyVersion, framework.WithChildren(), framework.Quietly())
	if err != nil {
		return fmt.Errorf("%s is left on the servers: %w", e.arena.root, err)
	}
	return nil
}

func without(list []*client, c *client) []*client {
	return slices.DeleteFunc(list, func(other *client) bool { return other == c })
}
