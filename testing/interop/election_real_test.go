//go:build real

package interop_test

import (
	"context"
	"errors"
	"path"
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"
)

// election is an election among candidates, in the order of their first
// candidacies.
type election struct {
	t          *testing.T
	srv        *testServer
	path       string
	recipe     string
	session    time.Duration
	checker    *leaderChecker
	token      int64 // of the last leadership that is known to be over
	seen       int64 // of the last leader that was seen
	candidates []candidate
	created    int // the number of candidates from the beginning
}

func newElection(
	t *testing.T, srv *testServer, recipe string, session time.Duration, languages ...language,
) *election {
	e := &election{
		t:       t,
		srv:     srv,
		path:    lockPath(t),
		recipe:  recipe,
		session: session,
		checker: openLeaderChecker(t, srv.lives),
	}
	for i, l := range languages {
		e.candidates = append(e.candidates, e.newCandidate(l))
		srv.waitNodes(t, e.path, i+1)
	}
	return e
}

func (e *election) newCandidate(l language) candidate {
	e.created++
	return e.srv.newCandidate(e.t, l, e.created, e.path, e.recipe, e.checker, e.session)
}

// awaitLeader returns the leader that follows the last one known to be over.
func (e *election) awaitLeader() candidate {
	e.t.Helper()
	id, token, err := e.checker.await(withDeadline(e.t), e.token)
	require.NoError(e.t, err)
	e.seen = token
	i := slices.IndexFunc(e.candidates, func(c candidate) bool { return c.id() == id })
	require.GreaterOrEqual(e.t, i, 0, "%s should not lead any more", id)
	return e.candidates[i]
}

// markOver records that the leadership that was seen last is going to end, or
// has ended by accident. It returns that leadership's token.
func (e *election) markOver() int64 {
	e.token = e.seen
	return e.token
}

// excludeLeader is for a leader that cannot step down before the next one may
// lead.
func (e *election) excludeLeader() { e.checker.exclude(e.markOver()) }

// crash ends the leader without excluding it, so it must stop before the server
// ends its session. Another candidate of the same language replaces it.
func (e *election) crash(leader candidate) {
	e.markOver()
	leader.crash()
	e.candidates[slices.Index(e.candidates, leader)] = e.newCandidate(languageOf(leader.id()))
}

// other returns a candidate other than this one, depending on n.
func (e *election) other(than candidate, n int) candidate {
	others := slices.DeleteFunc(slices.Clone(e.candidates), func(c candidate) bool { return c == than })
	return others[n%len(others)]
}

// helper returns the process of a Java candidate.
func (e *election) helper() *peer {
	for _, c := range e.candidates {
		if java, ok := c.(javaCandidate); ok {
			return java.peer
		}
	}
	return nil
}

// requireAgreement waits until all candidates are there, and requires that all
// of them see the same candidates and leader. On a busy machine a candidate may
// lose its place meanwhile, or a node come and go. Then requireAgreement asks all
// of them again: views of different moments need not agree.
func (e *election) requireAgreement() {
	e.t.Helper()
	ctx := withDeadline(e.t)
	before := e.waitAll()
	views := e.views()
	for after := e.waitAll(); after != before; after = e.waitAll() {
		require.NoError(e.t, ctx.Err(), "the candidates come and go")
		before, views = after, e.views()
	}
	want := views[0].candidates
	for i, v := range views {
		id := e.candidates[i].id()
		require.ElementsMatch(e.t, want, v.candidates, "%s", id)
		require.Equal(e.t, want[0], v.candidates[0], "%s", id)
		require.Equal(e.t, want[0], v.leader, "%s", id)
	}
	require.Len(e.t, want, len(e.candidates))
	// Another leader may be reported that has just lost its place.
	for token, leader := e.token, ""; leader != want[0]; {
		var err error
		leader, token, err = e.checker.await(ctx, token)
		require.NoError(e.t, err, "%s does not lead", want[0])
		e.seen = token
	}
}

// view is an election as one candidate sees it.
type view struct {
	candidates []string
	leader     string
}

func (e *election) views() (views []view) {
	e.t.Helper()
	for _, c := range e.candidates {
		views = append(views, view{c.candidates(e.t), c.leader(e.t)})
	}
	return views
}

// javaRejoinTimeout is how long a candidate in Java may take to come back after
// the loss of its session.
const javaRejoinTimeout = 2 * time.Second

// waitAll waits until all candidates are there, and nobody else. It returns how
// many nodes had come or gone by then: if that is the same later, the candidates
// were the same all the time. After a lost session, Java's latch (Curator 5.4.0)
// sometimes does not come back by itself, but only with its next session. So
// waitAll ends that session. Candidates in Go must come back by themselves.
func (e *election) waitAll() (changes int32) {
	e.t.Helper()
	ctx := withDeadline(e.t)
	for {
		names, stat, change, err := e.srv.children(ctx, e.path)
		require.NoError(e.t, err)
		missing := e.missing(names)
		if len(missing) == 0 && len(names) == len(e.candidates) {
			change.Stop()
			return stat.Cversion
		}
		soon, cancel := context.WithTimeout(ctx, javaRejoinTimeout)
		_, err = change.Wait(soon)
		cancel()
		require.NoError(e.t, ctx.Err(), "these are no candidates: %v", missing)
		if err != nil {
			e.renewSessions(missing)
		}
	}
}

// missing returns the ids of candidates that have none of these nodes.
func (e *election) missing(nodes []string) (ids []string) {
	there := map[string]bool{}
	for _, node := range nodes {
		id, _, err := e.srv.observer.Get(withDeadline(e.t), path.Join(e.path, node))
		if !errors.Is(err, zk.ErrNoNode) {
			require.NoError(e.t, err)
			there[string(id)] = true
		}
	}
	for _, c := range e.candidates {
		if !there[c.id()] {
			ids = append(ids, c.id())
		}
	}
	return ids
}

// renewSessions ends the sessions of candidates in Java.
func (e *election) renewSessions(ids []string) {
	for _, c := range e.candidates {
		if java, ok := c.(javaCandidate); ok && slices.Contains(ids, c.id()) {
			e.t.Logf("%s has not stood again for %v", c.id(), javaRejoinTimeout)
			java.killSession(e.t, nil)
		}
	}
}

// end lets all candidates resign, and requires that nothing is left.
func (e *election) end() {
	e.t.Helper()
	e.checker.stopChecking()
	for _, c := range e.candidates {
		c.resign(e.t)
	}
	e.srv.requireNothingLeft(e.t, e.path)
}
