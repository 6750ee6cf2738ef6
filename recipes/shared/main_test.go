package shared_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/shared"
	"github.com/gocurator/curator/testing/zktest"
)

func TestMain(m *testing.M) { recipetest.Main(m) }

// world is the server that a scenario runs on, fake or real.
type world struct{ *recipetest.World }

// onFakeAndReal runs a scenario on zktest in virtual time, and on a real
// server.
func onFakeAndReal(t *testing.T, scenario func(t *testing.T, w *world)) {
	t.Helper()
	recipetest.OnFakeAndReal(t, func(t *testing.T, w *recipetest.World) { scenario(t, &world{w}) })
}

func inVirtualTime(t *testing.T, scenario func(t *testing.T, w *world)) {
	t.Helper()
	recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) { scenario(t, &world{w}) })
}

// count returns a count that has been read, and that is closed at the end of
// the test.
func (w *world) count(t *testing.T, c *framework.Client, path string, seed int32) *shared.Count {
	t.Helper()
	n, err := shared.NewCount(c, path, seed)
	require.NoError(t, err)
	t.Cleanup(func() { n.Close() })
	require.NoError(t, n.WaitSynced(w.Patience(t)))
	return n
}

// get returns what a count has in memory.
func get(t *testing.T, n *shared.Count) shared.Versioned[int32] {
	t.Helper()
	now, err := n.Get()
	require.NoError(t, err)
	return now
}

// await waits until a count has a value.
func (w *world) await(t *testing.T, n *shared.Count, want int32) shared.Versioned[int32] {
	t.Helper()
	for now, err := range n.Changes(w.Patience(t)) {
		require.NoError(t, err)
		if now.Exists && now.Value == want {
			return now
		}
	}
	t.Fatalf("the count never was %d", want)
	panic("unreachable")
}

// awaitAbsent waits until a count knows that there is no node.
func (w *world) awaitAbsent(t *testing.T, n *shared.Count) {
	t.Helper()
	for now, err := range n.Changes(w.Patience(t)) {
		require.NoError(t, err)
		if !now.Exists {
			return
		}
	}
	t.Fatal("the count never was absent")
}

// onServer returns the number that a node has on the fake server.
func (w *world) onServer(t *testing.T, path string) int32 {
	t.Helper()
	n, there := w.Fake.Node(path)
	require.True(t, there, "%s is missing", path)
	require.Len(t, n.Data, 4)
	return int32(n.Data[0])<<24 | int32(n.Data[1])<<16 | int32(n.Data[2])<<8 | int32(n.Data[3])
}

func bytesOf(n int32) []byte { return []byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)} }

// settle lets a second of virtual time pass.
func settle() {
	time.Sleep(time.Second)
	synctest.Wait()
}

// requests returns the requests of a session since the log was cleared, without
// pings and handshakes.
func (w *world) requests(session int64) (ops []zktest.Op) {
	for _, r := range w.Fake.Requests() {
		if r.Session == session && r.Op != zkinside.OpPing && r.Op != zktest.OpConnect {
			ops = append(ops, r.Op)
		}
	}
	return ops
}

// canceled is a context that has ended.
func canceled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
