//go:build real

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
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

// These are the recipes of leadership, as java/Peer.java names them.
const (
	latch    = "latch"
	selector = "selector"
)

// candidate competes for leadership again and again, and tells a leaderChecker
// while it leads. The id begins with the candidate's language.
type candidate interface {
	id() string

	// leader and candidates return ids as this candidate sees them. The leader
	// is the first candidate.
	leader(t *testing.T) string
	candidates(t *testing.T) []string

	// killSession makes the server end the candidate's session, with the help
	// of another candidate's process.
	killSession(t *testing.T, helper *peer)

	// crash ends all contact of the candidate with the server for good. The
	// session goes on until the server ends it.
	crash()

	// canCrash reports whether crash can end this candidate and nothing else.
	canCrash() bool

	// resign ends the candidacy.
	resign(t *testing.T)
}

// inJavaProcess is a candidate in Java that has its own process, and can
// crash.
const inJavaProcess language = "Java process"

// newCandidate returns a candidate with its own client.
func (srv *testServer) newCandidate(
	t *testing.T, in language, number int, path, recipe string, checker *leaderChecker, session time.Duration,
) candidate {
	t.Helper()
	start := startPeer
	if in == inJavaProcess {
		in, start = inJava, startProcess
	}
	id := fmt.Sprintf("%s-%d", in, number)
	if in == inGo {
		return srv.newGoCandidate(t, id, path, recipe, checker, session)
	}
	host, port, err := net.SplitHostPort(checker.addr)
	require.NoError(t, err)
	java := javaCandidate{start(t, srv.addr, session), id}
	java.peer.must(t, "lead", id, path, recipe, host, port)
	return java
}

// javaCandidate has its own client.
type javaCandidate struct {
	peer *peer
	name string
}

func (c javaCandidate) id() string                        { return c.name }
func (c javaCandidate) leader(t *testing.T) string        { return c.peer.must(t, "leader", c.name)[0] }
func (c javaCandidate) candidates(t *testing.T) []string  { return c.peer.must(t, "candidates", c.name) }
func (c javaCandidate) killSession(t *testing.T, _ *peer) { c.peer.must(t, "kill-session") }
func (c javaCandidate) crash()                            { c.peer.kill() }
func (c javaCandidate) canCrash() bool                    { return c.peer.process != nil }
func (c javaCandidate) resign(t *testing.T)               { c.peer.must(t, "resign", c.name) }

// goCandidate has its own client.
type goCandidate struct {
	name        string
	interceptor *interceptor
	recipe      interface { // a *leader.Latch or *leader.Selector
		Leader(context.Context) (locks.Participant, error)
		Participants(context.Context) ([]locks.Participant, error)
	}
	stop func()
}

func (srv *testServer) newGoCandidate(
	t *testing.T, id, path, recipe string, checker *leaderChecker, session time.Duration,
) candidate {
	c := &goCandidate{name: id, interceptor: &interceptor{}}
	client := srv.connect(t, session, framework.WithDialer(c.interceptor.dial), earlyMargin)
	lead := func(ctx context.Context, token int64) { assert.NoError(t, checker.report(ctx, id, token)) }
	if recipe == latch {
		c.recipe, c.stop = runLatch(t, client, path, id, lead)
	} else {
		c.recipe, c.stop = runSelector(t, client, path, id, lead)
	}
	t.Cleanup(c.stop)
	return c
}

// leadFunc is the work of a leader, which ends with ctx.
type leadFunc func(ctx context.Context, token int64)

func runLatch(
	t *testing.T, client *framework.Client, path, id string, lead leadFunc,
) (*leader.Latch, func()) {
	l, err := leader.NewLatch(client, path, leader.WithID(id))
	require.NoError(t, err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			lease, err := l.WaitLeadership(context.Background())
			if err != nil {
				return
			}
			lead(lease.Context(), lease.FencingToken())
		}
	}()
	return l, func() {
		ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
		defer cancel()
		l.Shutdown(ctx)
		<-ended
	}
}

func runSelector(
	t *testing.T, client *framework.Client, path, id string, lead leadFunc,
) (*leader.Selector, func()) {
	always := func(error) bool { return true }
	s := leader.NewSelector(client, path, leader.WithID(id), leader.WithRequeue(always))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.Run(ctx, func(ctx context.Context) error {
			lease, _ := locks.LeaseFromContext(ctx)
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
	p, err := c.recipe.Leader(withDeadline(t))
	require.NoError(t, err)
	return p.ID()
}

// node returns the path of the leader's node.
func (c *goCandidate) node(t *testing.T) string {
	t.Helper()
	p, err := c.recipe.Leader(withDeadline(t))
	require.NoError(t, err)
	return p.Path
}

func (c *goCandidate) candidates(t *testing.T) []string {
	t.Helper()
	all, err := c.recipe.Participants(withDeadline(t))
	require.NoError(t, err)
	var ids []string
	for _, p := range all {
		ids = append(ids, p.ID())
	}
	return ids
}

func (c *goCandidate) killSession(t *testing.T, helper *peer) {
	t.Helper()
	id, password := c.interceptor.session(t)
	helper.must(t, "kill-session", id, password)
}

func (c *goCandidate) crash()              { c.interceptor.cut() }
func (c *goCandidate) canCrash() bool      { return true }
func (c *goCandidate) resign(t *testing.T) { c.stop() }
