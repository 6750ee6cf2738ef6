package cache

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// onLoop runs a test with the loop of a cache of /r that has nothing to do.
func onLoop(t *testing.T, test func(t *testing.T, l *loop)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c, err := New(curatortest.Connect(t, zktest.Start(t)), "/r")
		require.NoError(t, err)
		defer c.Close()
		l := newLoop(t.Context(), c)
		l.source = &quietSource{}
		test(t, l)
	})
}

// A path that was told of before its creation was there before: the creation is
// not the first event.
func TestPathThatWasToldOfBeforeIsNotBorn(t *testing.T) {
	onLoop(t, func(t *testing.T, l *loop) {
		l.soil("/r/a", dirt{needs: needNode, first: 5, last: 5})
		l.soil("/r/a", dirt{needs: needList, first: 6, last: 6, born: true})
		require.Equal(t, dirt{needs: needNode | needList, first: 5, last: 6}, l.dirty["/r/a"])
		l.soil("/r/b", dirt{needs: needNode, first: 5, last: 5, born: true})
		l.soil("/r/b", dirt{needs: needNode, first: 6, last: 6})
		require.True(t, l.dirty["/r/b"].born)
	})
}

// A list names a child whose read is under way. What the read brings may be
// older than the list, so the child is read again.
func TestChildThatIsBeingReadIsReadAgain(t *testing.T) {
	onLoop(t, func(t *testing.T, l *loop) {
		l.tree.put(&Node{Path: "/r/known"})
		l.tree.put(&Node{Path: "/r/read"})
		l.inflight["/r/read"] = struct{}{}
		l.take(result{
			request: request{path: "/r"}, node: &Node{Path: "/r"}, listed: true, names: []string{"known", "read", "new"},
		})
		require.Equal(t, map[string]needs{"/r/read": needNode | needScan, "/r/new": needNode | needScan}, l.batch)
	})
}
