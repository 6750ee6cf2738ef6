package shared_test

import (
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/codec"
	"github.com/gocurator/curator/recipes/shared"
	"github.com/gocurator/curator/testing/zktest"
)

// A Refresh that finds no node before the Value does keeps nobody from creating
// the node, and is no deletion.
func TestRefreshBeforeTheSeed(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		var log recipetest.Log
		c, _ := w.Connect(t, framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		w.Fake.Inject(zktest.Rule{Op: zktest.OpGetData, Path: "/n", Do: zktest.Fail(zkinside.ErrSystem)}) // the Value is tried again later
		n, err := shared.NewCount(c, "/n", 7)
		require.NoError(t, err)
		defer n.Close()
		synctest.Wait()
		now, err := n.Refresh(t.Context())
		require.NoError(t, err)
		require.False(t, now.Exists)
		settle()
		require.NoError(t, n.WaitSynced(t.Context()))
		require.Equal(t, int32(7), w.onServer(t, "/n"))
		require.True(t, get(t, n).Exists)
		require.NotContains(t, log.String(), "deleted by another client")
	})
}

// Nothing tells a Value whose creation of the node was not answered that somebody
// has deleted it since. So it creates the node once more, as one that begins
// after the deletion does.
func TestSeedIsCreatedAgain(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		created := w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Path: "/n", Do: zktest.DropReply()})
		deleted := w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Path: "/n", Do: zktest.CallAfter(func(zktest.Request) {
			require.NoError(t, w.Fake.Delete("/n"))
		})})
		n, err := shared.NewCount(c, "/n", 7)
		require.NoError(t, err)
		defer n.Close()
		require.NoError(t, n.WaitSynced(t.Context()))
		require.Equal(t, 1, created.Hits())
		require.Equal(t, 1, deleted.Hits())
		require.Equal(t, int32(7), w.onServer(t, "/n"))
		require.True(t, get(t, n).Exists)

		require.NoError(t, w.Fake.Delete("/n")) // it is known, and so not created again
		settle()
		require.False(t, get(t, n).Exists)
	})
}

// A seed that its codec cannot read again is an error at once.
func TestSeedThatCannotBeDecoded(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		unreadable := errors.New("unreadable")
		oneWay := codec.Codec[int]{
			Encode: func(int) ([]byte, error) { return nil, nil },
			Decode: func([]byte) (int, error) { return 0, unreadable },
		}
		_, err := shared.NewValue(c, "/v", oneWay, 1)
		require.ErrorIs(t, err, unreadable)
	})
}
