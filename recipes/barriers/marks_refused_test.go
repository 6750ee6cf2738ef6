package barriers_test

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest"
)

// The server refuses to tell the first member whether the second one has left,
// and the third one stays. The passage of the first ends, as after each refusal.
func TestRefusalOfOneMarkEndsThePassage(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		p := w.enterAll(t, "/b", w.clients(t, 3))
		settle()
		w.Fake.Inject(zktest.Rule{Op: zktest.OpGetData, Path: "/b/" + p[1].Name(), Times: -1, Do: zktest.Fail(zktest.ErrNoAuth)})
		begun := time.Now()
		left := leaveLater(w.Patience(t), p[0])
		time.AfterFunc(5*time.Minute, func() { p[2].Leave(w.Patience(t)) })
		<-left.done
		require.ErrorIs(t, left.err, zk.ErrNoAuth)
		require.Less(t, time.Since(begun), time.Minute)
	})
}
