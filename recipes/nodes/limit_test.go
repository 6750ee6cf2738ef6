package nodes_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/testing/zktest"
)

// This is the limit that the package documentation names. The client looks at the node
// of its former session, and the answer is late. Meanwhile the server deletes that
// node, and another client, who has never seen it, creates the path with the same
// version. The replacement deletes the other client's node. Its owner learns of the
// deletion, and has a conflict.
func TestNodeThatIsHitByALateReplacement(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		a, _ := w.Connect(t)
		b, _ := w.Connect(t)
		first := start(t, a, "/a", "first")
		old := w.ready(t, first).Session
		settle()
		w.Fake.Inject(zktest.Rule{Op: zktest.OpExists, Path: "/a", Do: zktest.All(
			zktest.CallAfter(func(zktest.Request) { go w.Fake.Session(old.ID()).Expire() }),
			zktest.DelayReply(3*time.Second))})
		zkinside.Of(w.Fake).PauseSession(old.ID())
		<-old.Context().Done()
		require.NoError(t, w.Fake.WaitFor(w.Patience(t), func() bool { _, there := w.Fake.Node("/a"); return !there }))
		second, seen := startFollowed(t, b, "/a", "second")
		w.ready(t, second)
		time.Sleep(time.Minute)
		require.Equal(t, "first", w.dataOf("/a"))
		require.Equal(t, []nodes.State{nodes.Registered, nodes.Lost, nodes.Conflict}, states(seen()))
	})
}
