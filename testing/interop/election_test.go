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

// election is one among candidates, in the order in which they stood first.
type election struct {
	t          *testing.T
	w          *world
	path       string
	recipe     string
	session    time.Duration
	throne     *throne
	token      int64 // of the last leader who is known to be over
	seen       int64 // of the last leader who was seen
	candidates []candidate
	stood      int // candidates, from the beginning
}

func newElection(t *testing.T, w *world, recipe string, session time.Duration, languages ...language) *election {
	e := &election{t: t, w: w, path: lockPath(t), recipe: recipe, session: session, throne: openThrone(t)}
	for i, l := range languages {
		e.candidates = append(e.candidates, e.stand(l))
		w.waitNodes(t, e.path, i+1)
	}
	return e
}

func (e *election) stand(l language) candidate {
	e.stood++
	return e.w.stand(e.t, l, e.stood, e.path, e.recipe, e.throne, e.session)
}

// awaitLeader returns who leads after the last one that is known to be over.
func (e *election) awaitLeader() candidate {
	e.t.Helper()
	id, token, err := e.throne.await(patience(e.t), e.token)
	require.NoError(e.t, err)
	e.seen = token
	i := slices.IndexFunc(e.candidates, func(c candidate) bool { return c.id() == id })
	require.GreaterOrEqual(e.t, i, 0, "%s should not lead any more", id)
	return e.candidates[i]
}

// over takes note that the leadership that was seen last is going to end, if it has not ended by accident, and returns its
// token.
func (e *election) over() int64 {
	e.token = e.seen
	return e.token
}

// depose is for a leader that cannot step down before the next one may lead.
func (e *election) depose() { e.throne.depose(e.over()) }

// crash ends the leader, which is not deposed: it must be over when the server ends its session. Another candidate of its
// language takes its place.
func (e *election) crash(leader candidate) {
	e.over()
	leader.crash()
	e.candidates[slices.Index(e.candidates, leader)] = e.stand(languageOf(leader.id()))
}

// another returns any candidate but one; which of them depends on n.
func (e *election) another(than candidate, n int) candidate {
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

// allAgree waits until everybody stands, and requires that all, in either language, see the same candidates and leader. If
// a candidate loses its place meanwhile, which happens on a busy machine, it asks them once more.
func (e *election) allAgree() {
	e.t.Helper()
	ctx := patience(e.t)
	var views []view
	for before := []string{}; ; {
		after := e.waitAll()
		if views != nil && slices.Equal(before, after) {
			break
		}
		require.NoError(e.t, ctx.Err(), "the candidates come and go")
		before, views = after, e.views()
	}
	want := views[0].all
	for i, v := range views {
		id := e.candidates[i].id()
		require.ElementsMatch(e.t, want, v.all, "%s", id)
		require.Equal(e.t, want[0], v.all[0], "%s", id)
		require.Equal(e.t, want[0], v.leader, "%s", id)
	}
	require.Len(e.t, want, len(e.candidates))
	for token, leader := e.token, ""; leader != want[0]; { // another one may be there who has lost its place just now
		var err error
		leader, token, err = e.throne.await(ctx, token)
		require.NoError(e.t, err, "%s does not lead", want[0])
		e.seen = token
	}
}

// view is what a candidate sees.
type view struct {
	all    []string
	leader string
}

func (e *election) views() (views []view) {
	e.t.Helper()
	for _, c := range e.candidates {
		views = append(views, view{c.all(e.t), c.leader(e.t)})
	}
	return views
}

// javaTarries is how long a candidate in Java may take to stand again after the loss of its session.
const javaTarries = 6 * time.Second

// waitAll waits until everybody stands, and returns their nodes in alphabetical order. Java's latch (Curator 5.4.0) rarely
// does not stand again by itself when its session was lost, but only with the next session: it gets one. Ours have to manage
// by themselves.
func (e *election) waitAll() []string {
	e.t.Helper()
	ctx := patience(e.t)
	for {
		names, change, err := e.w.children(ctx, e.path)
		require.NoError(e.t, err)
		missing := e.missing(names)
		if len(missing) == 0 && len(names) == len(e.candidates) {
			change.Stop()
			return slices.Sorted(slices.Values(names))
		}
		soon, cancel := context.WithTimeout(ctx, javaTarries)
		_, err = change.Wait(soon)
		cancel()
		require.NoError(e.t, ctx.Err(), "these do not stand: %v", missing)
		if err != nil {
			e.wake(missing)
		}
	}
}

// missing returns the ids of those who should stand and have none of these nodes.
func (e *election) missing(nodes []string) (ids []string) {
	there := map[string]bool{}
	for _, node := range nodes {
		id, _, err := e.w.observer.Get(patience(e.t), path.Join(e.path, node))
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

// wake gives candidates in Java the next session.
func (e *election) wake(ids []string) {
	for _, c := range e.candidates {
		if java, ok := c.(javaCandidate); ok && slices.Contains(ids, c.id()) {
			e.t.Logf("%s has not stood again for %v", c.id(), javaTarries)
			java.killSession(e.t, nil)
		}
	}
}

// end has all candidates resign, and nothing left.
func (e *election) end() {
	e.t.Helper()
	e.throne.abolish()
	for _, c := range e.candidates {
		c.resign(e.t)
	}
	e.w.nothingLeft(e.t, e.path)
}
