package atomic_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
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

// dataOf returns the data of a node, fake or real.
func (w *world) dataOf(t *testing.T, path string) []byte {
	t.Helper()
	data, _, err := w.Observer.Get(w.Patience(t), path)
	require.NoError(t, err)
	return data
}

// requests returns the requests of a session, without pings and handshakes.
func (w *world) requests(session int64) (ops []zktest.Op) {
	for _, r := range w.Fake.Requests() {
		if r.Session == session && r.Op != zkinside.OpPing && r.Op != zktest.OpConnect {
			ops = append(ops, r.Op)
		}
	}
	return ops
}

// settle lets a second of virtual time pass, so that nothing is taken to be as
// it was.
func settle() {
	time.Sleep(time.Second)
	synctest.Wait()
}
