package cache

import (
	"testing"
	"testing/synctest"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/insider"
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
		synctest.Wait() // only one loop may use the cache at a time
		l := newLoop(t.Context(), c)
		l.source = &quietSource{}
		test(t, l)
	})
}

// A path that had an event before its creation existed before: the creation is not the
// first event.
//
// Promise: A path that had an event before its creation was read is not reported as
// created twice.
func TestPathWithAnEarlierEventIsNotCreated(t *testing.T) {
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
//
// Promise: A child is read again if it was being read while its parent was listed.
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

// A re-created node may have had children before there was a watch. So the cache lists
// the node, though no event has named the children.
//
// Promise: The children of a re-created node are listed.
func TestRecreatedNodeIsListed(t *testing.T) {
	onLoop(t, func(t *testing.T, l *loop) {
		of := func(czxid int64) *Node {
			return &Node{Path: "/r", Stat: zk.Stat{Czxid: czxid, Pzxid: 9, NumChildren: 1}}
		}
		q := request{path: "/r", needs: needNode, known: known{node: of(1), listed: 9}}
		require.True(t, l.wantsChildren(q, of(2)))
		require.False(t, l.wantsChildren(q, of(1)))
	})
}

// A path has an event before the target of a batch, and another event right after the
// answer that the target is. The batch has the first change. The second change is after
// the target: its read is too new for a step, and the batch does not have it.
//
// Promise: A change right after the transaction that a step waits for is not lost.
func TestPathWithAnEventAfterTheTargetStaysDirty(t *testing.T) {
	const target = 5
	node := func(mzxid int64) *Node { return &Node{Path: "/r/a", Stat: zk.Stat{Czxid: 1, Mzxid: mzxid}} }
	told := func(l *loop) {
		l.tree.put(node(1))
		l.soil("/r/a", dirt{needs: needNode, first: 3, last: 3})
		l.soil("/r/a", dirt{needs: needNode, first: target, last: target})
	}
	left := map[string]dirt{"/r/a": {needs: needNode, first: target, last: target}}
	onLoop(t, func(t *testing.T, l *loop) {
		told(l)
		l.begin(target)
		require.Equal(t, map[string]needs{"/r/a": needNode}, l.batch)
		l.tree.put(node(target + 1))
		require.Equal(t, []string{"/r/a"}, l.inTheWay())
		require.Equal(t, left, l.dirty)
	})
	onLoop(t, func(t *testing.T, l *loop) {
		told(l)
		l.target = target
		l.takeTogether("/r/a", insider.NodeRead{Stat: &node(4).Stat})
		require.Equal(t, left, l.dirty)
	})
}

// An answer and the events behind it have come together. What was read is what the
// server had as of the answer, and the cache takes that step.
func TestStepIsTakenBesideEventsBehindTheNewestAnswer(t *testing.T) {
	const newest = 1000
	onLoop(t, func(t *testing.T, l *loop) {
		synctest.Wait() // the cache's own loop has nothing to do
		l.source = &upTo{zxid: newest}
		l.soil("/r/a", dirt{needs: needNode, first: newest, last: newest})
		l.step()
		require.EqualValues(t, newest, l.c.Zxid())
	})
	onLoop(t, func(t *testing.T, l *loop) {
		synctest.Wait()
		l.source = &upTo{zxid: newest}
		l.soil("/r/a", dirt{needs: needNode, first: newest - 1, last: newest})
		l.step()
		require.Less(t, l.c.Zxid(), int64(newest))
	})
}

// upTo is a source that has told everything up to a transaction.
type upTo struct {
	quietSource
	zxid int64
}

func (u *upTo) caughtUp() (int64, bool) { return u.zxid, true }
