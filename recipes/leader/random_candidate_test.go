package leader_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

// candidate is one of the processes of an election. Random numbers decide what
// it does.
type candidate struct {
	*election
	name string
	rng  *rand.Rand
}

const (
	longestCandidacy = 5 * time.Minute
	longestWindDown  = 15 * time.Second // of a selector's work after the end of its context
)

// live stands, with one client after the other, until the election is over.
func (c *candidate) live() {
	for c.over.Err() == nil {
		client := c.connect()
		for again := true; again && c.over.Err() == nil; {
			life, end := context.WithCancel(c.over)
			if c.churn.Err() == nil {
				life, end = context.WithTimeout(c.over, c.upTo(longestCandidacy))
			}
			again = c.stand(c, client, life) && c.likely(0.7)
			end()
			c.wait(c.over, c.upTo(10*time.Second))
		}
		client.Close()
		c.wait(c.over, c.upTo(30*time.Second))
	}
}

func (c *candidate) connect() *framework.Client {
	addr, dial := c.servers[0].Addr(), c.servers[0].Dialer()
	opts := []framework.Option{framework.WithSessionTimeout(electionSession), framework.WithErrorPolicy(c.policy)}
	if c.ens != nil {
		addr, dial = c.ens.ConnectString(), c.ens.Dialer()
		opts = append(opts, framework.WithStrictContact())
	}
	client, err := framework.New(addr, append(opts, framework.WithDialer(dial))...)
	assert.NoError(c, err)
	return client
}

func (c *candidate) likely(chance float64) bool { return c.rng.Float64() < chance }

func (c *candidate) upTo(d time.Duration) time.Duration {
	return time.Duration(c.rng.Int64N(int64(d)))
}

func (c *candidate) wait(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

func (c *candidate) options() []leader.Option {
	opts := []leader.Option{leader.WithID(c.name)}
	if c.likely(0.5) {
		opts = append(opts, leader.WithGrace(5*time.Second))
	}
	return opts
}

// standWithLatch stands until life ends. It reports false if the caller must
// close the client to end the latch.
func (c *candidate) standWithLatch(client *framework.Client, life context.Context) bool {
	latch, err := leader.NewLatch(client, c.path, c.options()...)
	assert.NoError(c, err)
	for life.Err() == nil {
		lease, err := latch.WaitLeadership(life)
		if err != nil {
			assert.ErrorIs(c, err, life.Err())
			break
		}
		l := c.begin(c.name, lease)
		c.lead(life, lease, latch)
		if errors.Is(context.Cause(lease.Context()), framework.ErrSessionLost) {
			c.lost(l)
			time.Sleep(c.upTo(electionSession / 10)) // less than the safety margin
		}
		c.finish(l)
		if life.Err() == nil {
			lease.Release(life)
		}
	}
	patience, cancel := context.WithTimeout(context.WithoutCancel(life), c.upTo(30*time.Second))
	defer cancel()
	switch {
	case c.likely(0.2): // closing the client ends the latch
		return false
	case c.likely(0.3):
		latch.Shutdown(life) // life has ended by now
	default:
		latch.Shutdown(patience)
	}
	return true
}

// elected has the methods of the leader that both recipes share.
type elected interface {
	Resign(ctx context.Context) error
	HandOver(ctx context.Context) error
}

// lead is the work of a leader. It returns when the leadership has ended.
// Sometimes it gives the leadership up before that.
func (c *candidate) lead(ctx context.Context, lease *locks.Lease, as elected) {
	over := lease.Context().Done()
	deadline := c.upTo(20 * time.Second)
	what := c.rng.IntN(10)
	heeds := c.likely(0.5)
	select {
	case <-over:
		return
	case <-ctx.Done():
		return
	case <-time.After(c.upTo(time.Minute)):
	}
	limited, cancel := context.WithTimeout(ctx, deadline)
	var asking sync.WaitGroup
	defer asking.Wait()
	defer cancel()
	switch {
	case c.churn.Err() != nil: // the leader goes on
	case what == 0:
		asking.Go(func() { as.Resign(limited) })
	case what <= 2:
		asking.Go(func() { as.HandOver(limited) })
	case what == 3:
		return
	}
	revoked := lease.Revoked()
	if !heeds {
		revoked = nil
	}
	select {
	case <-over:
	case <-ctx.Done():
	case <-revoked:
		c.wait(lease.Context(), time.Second)
	}
}

// standWithSelector stands until life ends, or for one leadership.
func (c *candidate) standWithSelector(client *framework.Client, life context.Context) bool {
	again := leader.WithRequeue(func(error) bool { return c.churn.Err() != nil || c.likely(0.7) })
	s := leader.NewSelector(client, c.path, append(c.options(), again)...)
	err := c.runOnce(life, s)
	for _, expected := range []error{nil, life.Err(), errWork, locks.ErrRevoked, locks.ErrNodeDeleted, framework.ErrSessionLost, framework.ErrSuspended} {
		if errors.Is(err, expected) {
			return true
		}
	}
	c.Errorf("%s: %v", c.name, err)
	return true
}

var errWork = errors.New("work failed")

func (c *candidate) runOnce(life context.Context, s *leader.Selector) (err error) {
	defer func() {
		if recover() != nil {
			err = errWork
		}
	}()
	return s.Run(life, func(ctx context.Context) error {
		lease, _ := locks.LeaseFromContext(ctx)
		l := c.begin(c.name, lease)
		defer c.finish(l)
		c.lead(ctx, lease, s)
		if c.likely(0.3) {
			time.Sleep(c.upTo(longestWindDown))
		}
		switch {
		case c.likely(0.1):
			panic(errWork)
		case c.likely(0.2):
			return errWork
		}
		return ctx.Err()
	})
}
