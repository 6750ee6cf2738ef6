package interop_test

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes"
)

// The recipes of leadership, as java/Peer.java calls them.
const (
	latch    = "latch"
	selector = "selector"
)

// candidate stands for leader again and again, and is on the throne while it leads. Its id begins with its language.
type candidate interface {
	id() string

	// leader and all return ids of candidates, as this one sees them; the leader is the first of all.
	leader(t *testing.T) string
	all(t *testing.T) []string

	// killSession makes the server end the candidate's session. Another one's process helps with that.
	killSession(t *testing.T, helper *peer)

	// crash ends all contact of the candidate with the server, for good. Its session goes on, until the server has
	// missed it for long enough.
	crash()

	// resign ends the candidacy.
	resign(t *testing.T)
}

// stand returns a candidate in a client or a process of its own.
func (w *world) stand(t *testing.T, in language, number int, path, recipe string, th *throne, session time.Duration) candidate {
	t.Helper()
	id := fmt.Sprintf("%s-%d", in, number)
	if in == inGo {
		return w.standInGo(t, id, path, recipe, th, session)
	}
	host, port, err := net.SplitHostPort(th.addr)
	require.NoError(t, err)
	java := javaCandidate{startPeer(t, w.addr, session), id}
	java.peer.must(t, "lead", id, path, recipe, host, port)
	return java
}

// javaCandidate has a process of its own.
type javaCandidate struct {
	peer *peer
	name string
}

func (c javaCandidate) id() string                        { return c.name }
func (c javaCandidate) leader(t *testing.T) string        { return c.peer.must(t, "leader", c.name)[0] }
func (c javaCandidate) all(t *testing.T) []string         { return c.peer.must(t, "candidates", c.name) }
func (c javaCandidate) killSession(t *testing.T, _ *peer) { c.peer.must(t, "kill-session") }
func (c javaCandidate) crash()                            { c.peer.kill() }
func (c javaCandidate) resign(t *testing.T)               { c.peer.must(t, "resign", c.name) }

// goCandidate has a client of its own.
type goCandidate struct {
	name   string
	tap    *tap
	recipe interface { // *recipes.LeaderLatch or *recipes.LeaderSelector
		Leader(context.Context) (recipes.Participant, error)
		Participants(context.Context) ([]recipes.Participant, error)
	}
	stop func()
}

func (w *world) standInGo(t *testing.T, id, path, recipe string, th *throne, session time.Duration) candidate {
	c := &goCandidate{name: id, tap: &tap{}}
	client := w.connect(t, session, framework.WithDialer(c.tap.dial), early)
	lead := func(ctx context.Context, token int64) { assert.NoError(t, th.sit(ctx, id, token)) }
	if recipe == latch {
		c.recipe, c.stop = standWithLatch(t, client, path, id, lead)
	} else {
		c.recipe, c.stop = standWithSelector(t, client, path, id, lead)
	}
	t.Cleanup(c.stop)
	return c
}

func standWithLatch(t *testing.T, client *framework.Client, path, id string, lead func(context.Context, int64)) (*recipes.LeaderLatch, func()) {
	l := recipes.NewLeaderLatch(client, path, recipes.WithID(id))
	require.NoError(t, l.Start())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			lease, err := l.Await(context.Background())
			if err != nil {
				return
			}
			lead(lease.Context(), lease.FencingToken())
		}
	}()
	return l, func() {
		ctx, cancel := context.WithTimeout(context.Background(), tooLong)
		defer cancel()
		l.Close(ctx)
		<-ended
	}
}

func standWithSelector(t *testing.T, client *framework.Client, path, id string, lead func(context.Context, int64)) (*recipes.LeaderSelector, func()) {
	always := func(error) bool { return true }
	s := recipes.NewLeaderSelector(client, path, recipes.WithID(id), recipes.WithRequeue(always))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.Run(ctx, func(ctx context.Context) error {
			lease, _ := recipes.LeaseFromContext(ctx)
			lead(ctx, lease.FencingToken())
			return nil
		})
	}()
	return s, func() {
		cancel()
		<-ended
	}
}

func (c *goCandidate) id() string { return c.name }

func (c *goCandidate) leader(t *testing.T) string {
	t.Helper()
	p, err := c.recipe.Leader(patience(t))
	require.NoError(t, err)
	return p.ID()
}

// node returns the leader's.
func (c *goCandidate) node(t *testing.T) string {
	t.Helper()
	p, err := c.recipe.Leader(patience(t))
	require.NoError(t, err)
	return p.Path
}

func (c *goCandidate) all(t *testing.T) []string {
	t.Helper()
	all, err := c.recipe.Participants(patience(t))
	require.NoError(t, err)
	var ids []string
	for _, p := range all {
		ids = append(ids, p.ID())
	}
	return ids
}

func (c *goCandidate) killSession(t *testing.T, helper *peer) {
	t.Helper()
	id, password := c.tap.session(t)
	helper.must(t, "kill-session", id, password)
}

func (c *goCandidate) crash()              { c.tap.cut() }
func (c *goCandidate) resign(t *testing.T) { c.stop() }
