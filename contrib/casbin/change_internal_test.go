package zkwatcher

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/shared"
)

// A Watcher may see only the last of several changes. Its own may stand for
// another one that it has not seen.
func TestOwnChangeOverAnotherIsNews(t *testing.T) {
	a, b := &Watcher{id: "a"}, &Watcher{id: "b"}
	node := func(value change) shared.Versioned[change] {
		return shared.Versioned[change]{Value: value, Exists: true, Czxid: 1}
	}
	write := func(w *Watcher, over change) change {
		next, err := w.next(over)
		require.NoError(t, err)
		return next
	}
	first := write(b, change{})
	seen, news := a.isNews(node(first), known{})
	require.True(t, news)

	own := write(a, write(a, first))
	_, news = a.isNews(node(own), seen)
	require.False(t, news, "nothing but its own two changes")

	over := write(a, write(b, own))
	after, news := a.isNews(node(over), seen)
	require.True(t, news, "its own stands for b's")
	more := node(write(a, over))
	latest, news := a.isNews(more, after)
	require.False(t, news)
	_, news = a.isNews(more, latest)
	require.True(t, news, "somebody has copied it")

	again := node(write(a, change{}))
	again.Czxid = 2
	_, news = a.isNews(again, latest)
	require.True(t, news, "nobody knows what was written before the node was made anew")
	_, news = b.isNews(node(own), known{})
	require.True(t, news)
}
