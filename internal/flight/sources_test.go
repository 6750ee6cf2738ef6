package flight

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var errRefused = errors.New("refused")

// roots returns the roots of the caches that have ended, and of the others.
func roots(r *Recorder) (ended, live []string) {
	for _, c := range r.Followers().Caches.All() {
		if c.Ended.IsZero() {
			live = append(live, c.Root)
		} else {
			ended = append(ended, c.Root)
		}
	}
	return ended, live
}

func add(r *Recorder, root string) (end func(error)) {
	return r.Followers().Caches.Add(root, func() Cache { return Cache{Root: root, Nodes: 7} })
}

func TestEndsWithAnErrorAreKept(t *testing.T) {
	r := New()
	before := time.Now()
	failed, closed := add(r, "/failed"), add(r, "/closed")
	add(r, "/live")
	failed(errRefused)
	closed(nil)
	ended, live := roots(r)
	require.Equal(t, []string{"/failed"}, ended)
	require.Equal(t, []string{"/live"}, live)
	last := r.Followers().Caches.All()[0]
	require.Equal(t, errRefused, last.Why)
	require.False(t, last.Ended.Before(before))
	require.Equal(t, 7, last.Nodes, "as it was")

	failed(errRefused)
	closed(errRefused)
	ended, _ = roots(r)
	require.Equal(t, []string{"/failed"}, ended, "an end is an end once")
	r.Add(Event{Kind: ClientClosed})
	ended, live = roots(r)
	require.Empty(t, ended)
	require.Equal(t, []string{"/live"}, live)
}

// A program that tries again has no trouble any more, as far as is known.
func TestASuccessorReplacesAnEnd(t *testing.T) {
	r := New()
	add(r, "/a")(errRefused)
	first := add(r, "/a")
	ended, live := roots(r)
	require.Empty(t, ended)
	require.Equal(t, []string{"/a"}, live)

	second := add(r, "/a")
	first(errRefused)
	ended, _ = roots(r)
	require.Empty(t, ended, "it has a successor")
	second(errRefused)
	ended, live = roots(r)
	require.Equal(t, []string{"/a"}, ended)
	require.Empty(t, live)
}
