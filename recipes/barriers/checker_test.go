package barriers_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/recipes/barriers"
	"github.com/gocurator/curator/testing/zktest"
)

// checker checks the rounds of a double barrier on the fake server:
//
//  1. Each opening is for exactly n members. All of their nodes are there in
//     that transaction, and none of them has been in another round.
//  2. Each passage is of an opening, and knows its members.
//  3. When Leave returns nil, no other member of the round is inside.
//  4. A member that is reported as lost is not inside.
//  5. No call goes on after its context has ended.
type checker struct {
	*testing.T
	srv  *zktest.Server
	path string
	n    int

	mu       sync.Mutex                              // protects the following fields
	rounds   map[string][]string                     // by the name of each member
	seen     int                                     // rounds
	unsure   int                                     // openings that something followed at once
	passages map[string]map[string]*barriers.Passage // by the first member of the round, and by member
}

// newChecker returns a checker that looks on from now.
func newChecker(t *testing.T, srv *zktest.Server, path string, n int) *checker {
	c := &checker{
		T: t, srv: srv, path: path, n: n,
		rounds: map[string][]string{}, passages: map[string]map[string]*barriers.Passage{},
	}
	srv.Inject(zktest.Rule{Op: zktest.OpMulti, Path: path, Times: -1, Do: zktest.CallAfter(c.look)})
	return c
}

// look looks at the rounds after a transaction.
func (c *checker) look(r zktest.Request) {
	node, there := c.srv.Node(c.path)
	names := c.srv.Children(c.path)
	atOnce := there && node.Stat.Mzxid == r.Zxid && c.srv.Zxid() == r.Zxid
	var data struct{ Rounds []struct{ Members []string } }
	if there && len(node.Data) > 0 {
		if err := json.Unmarshal(node.Data, &data); err != nil {
			c.Errorf("%q: %v", node.Data, err)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range data.Rounds {
		round := r.Members
		if known := c.rounds[round[0]]; known != nil {
			if !slices.Equal(round, known) {
				c.Errorf("the round %v has got other members: %v", known, round)
			}
			continue
		}
		c.seen++
		if len(round) != c.n {
			c.Errorf("the barrier has opened for %v, want %d", round, c.n)
		}
		for _, name := range round {
			if c.rounds[name] != nil {
				c.Errorf("%s is in two rounds: %v, %v", name, c.rounds[name], round)
			}
			c.rounds[name] = round
			if atOnce && !slices.Contains(names, name) {
				c.Errorf("the barrier has opened for %v without %s:\n%s", round, name, c.srv.Dump())
			}
		}
		if !atOnce {
			c.unsure++
		}
	}
}

// enter is Enter with checks.
func (c *checker) enter(ctx context.Context, b *barriers.DoubleBarrier) (*barriers.Passage, error) {
	p, err := b.Enter(ctx)
	c.inTime(ctx, "Enter")
	if err != nil {
		return nil, err
	}
	c.look(zktest.Request{}) // a fault may have hit the request of the opening
	c.mu.Lock()
	defer c.mu.Unlock()
	round := c.rounds[p.Name()]
	if !slices.Equal(round, p.Members()) {
		c.Errorf("%s has entered with %v, and the round is %v", p.Name(), p.Members(), round)
		return p, nil
	}
	if c.passages[round[0]] == nil {
		c.passages[round[0]] = map[string]*barriers.Passage{}
	}
	c.passages[round[0]][p.Name()] = p
	context.AfterFunc(p.Context(), func() { c.lost(p) }) // on a goroutine of its own
	return p, nil
}

// lost checks that members that are reported as lost are gone.
func (c *checker) lost(p *barriers.Passage) {
	var lost *barriers.MemberLostError
	if !errors.As(context.Cause(p.Context()), &lost) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range lost.Members {
		_, there := c.srv.Node(c.path + "/" + name)
		other := c.passages[p.Members()[0]][name]
		if there && other != nil && other.Context().Err() == nil || !slices.Contains(p.Members(), name) {
			c.Errorf("%s takes %s for lost", p.Name(), name)
		}
	}
}

// leave is Leave with checks.
func (c *checker) leave(ctx context.Context, p *barriers.Passage) error {
	err := p.Leave(ctx)
	c.inTime(ctx, "Leave")
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, other := range c.passages[p.Members()[0]] {
		if _, there := c.srv.Node(c.path + "/" + name); there && other.Context().Err() == nil {
			c.Errorf("%s has left, and %s has not", p.Name(), name)
		}
	}
	return nil
}

// inTime checks that a call ends with its context.
func (c *checker) inTime(ctx context.Context, call string) {
	if end, ok := ctx.Deadline(); ok && time.Since(end) > time.Second {
		c.Errorf("%s has gone on for %v after its context", call, time.Since(end))
	}
}
