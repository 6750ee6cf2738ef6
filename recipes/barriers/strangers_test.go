package barriers_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/barriers"
	"github.com/gocurator/curator/testing/zktest"
)

// An operator deletes nodes of members. One that waits enters again. One that is
// inside ends, and so does one that leaves.
func TestNodesThatAnOperatorDeletes(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		clients := w.clients(t, 2)
		first := enterLater(w.Patience(t), barriers.NewDoubleBarrier(clients[0], "/b", 2))
		time.Sleep(2 * time.Second) // it watches its node by now
		before := w.Fake.Children("/b")
		require.NoError(t, w.Fake.Delete("/b/"+before[0]))
		settle()
		after := w.Fake.Children("/b")
		require.Len(t, after, 1)
		require.NotEqual(t, before, after)
		second := enterLater(w.Patience(t), barriers.NewDoubleBarrier(clients[1], "/b", 2))
		passages := []*barriers.Passage{first.wait(t), second.wait(t)}
		settle()
		require.NoError(t, w.Fake.Delete("/b/"+passages[1].Name()))
		<-passages[1].Context().Done()
		require.ErrorIs(t, context.Cause(passages[1].Context()), barriers.ErrNodeDeleted)
		require.ErrorIs(t, passages[1].Leave(w.Patience(t)), barriers.ErrNodeDeleted)
		<-passages[0].Context().Done()
		require.ErrorIs(t, context.Cause(passages[0].Context()), barriers.ErrMemberLost)
		w.leaveAll(t, passages[:1])
		w.NothingLeft(t, "/b")

		passages = w.enterAll(t, "/b", clients)
		left := leaveLater(w.Patience(t), passages[1])
		settle()
		require.NoError(t, w.Fake.Delete("/b/"+passages[1].Name()))
		<-left.done
		require.ErrorIs(t, left.err, barriers.ErrNodeDeleted, "the other one is inside")
		w.leaveAll(t, passages[:1])
		w.NothingLeft(t, "/b")
	})
}

// A member that was told another n than the one that opens the round does not
// enter. The other one learns of that.
func TestMembersWithDifferentNumbers(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		clients := w.clients(t, 2)
		odd := enterLater(w.Patience(t), barriers.NewDoubleBarrier(clients[0], "/b", 3))
		time.Sleep(time.Second)
		pair := enterLater(w.Patience(t), barriers.NewDoubleBarrier(clients[1], "/b", 2))
		<-odd.done
		require.ErrorIs(t, odd.err, zk.ErrBadArguments)
		require.ErrorContains(t, odd.err, "round of 2")
		passage := pair.wait(t)
		<-passage.Context().Done()
		require.ErrorIs(t, context.Cause(passage.Context()), barriers.ErrMemberLost)
		w.leaveAll(t, []*barriers.Passage{passage})
		w.NothingLeft(t, "/b")
	})
}

// Values that cannot be used are errors of every call, before anything is sent.
func TestDoubleBarriersThatCannotBe(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		w.Fake.ClearRequests()
		ctx := t.Context()
		for want, all := range map[error][]*barriers.DoubleBarrier{
			zk.ErrBadArguments: {
				{},
				barriers.NewDoubleBarrier(nil, "/b", 2),
				barriers.NewDoubleBarrier(c, "/b", 0),
				barriers.NewDoubleBarrier(c, "/b", -1),
				barriers.NewDoubleBarrier(c, "/b", 2, nil),
			},
			zk.ErrInvalidPath: {barriers.NewDoubleBarrier(c, "b", 2), barriers.NewDoubleBarrier(c, "", 2)},
		} {
			for _, b := range all {
				_, err := b.Enter(ctx)
				require.ErrorIs(t, err, want)
				_, err = b.Members(ctx)
				require.ErrorIs(t, err, want)
			}
		}
		require.Empty(t, w.Requests())
	})
}

// A node with data of another kind is not overwritten.
func TestForeignDataIsLeftAlone(t *testing.T) {
	for _, data := range []string{
		"10.0.0.7", `{"v":2}`, "{", "[]",
		`{"v":1,"rounds":[{"members":["m-a.1","m-a.1"]}]}`, `{"v":1,"rounds":[{"members":["m-a.1"]},{"members":["m-a.1"]}]}`,
	} {
		inVirtualTime(t, func(t *testing.T, w *world) {
			require.NoError(t, w.Fake.Create("/b", []byte(data)))
			c, _ := w.Connect(t)
			_, err := barriers.NewDoubleBarrier(c, "/b", 1).Enter(t.Context())
			require.ErrorIs(t, err, barriers.ErrForeignData)
			n, _ := w.Fake.Node("/b")
			require.Equal(t, data, string(n.Data))
			w.NothingLeft(t, "/b")
		})
	}
}

// A refusal of the server is an error of Enter, which leaves nothing behind.
func TestRefusalIsAnErrorOfEnter(t *testing.T) {
	for _, op := range []zktest.Op{zktest.OpCreate, zktest.OpGetData, zktest.OpMulti} {
		inVirtualTime(t, func(t *testing.T, w *world) {
			c, _ := w.Connect(t)
			w.Fake.Inject(zktest.Rule{Op: op, Path: "/b*", Times: -1, Do: zktest.Fail(zktest.ErrNoAuth)})
			_, err := barriers.NewDoubleBarrier(c, "/b", 1).Enter(t.Context())
			require.ErrorIs(t, err, zk.ErrNoAuth)
			w.NothingLeft(t, "/b")
		})
	}
}
