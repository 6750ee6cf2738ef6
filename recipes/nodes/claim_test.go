package nodes_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/testing/zktest"
)

// A persistent node that exists is taken over if it is claimed, and is a conflict
// if it is not.
func TestNodeThatIsNotClaimedIsAConflict(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		require.NoError(t, w.Fake.Create("/mine", []byte("me, old")))
		require.NoError(t, w.Fake.Create("/theirs", []byte("them")))
		c, _ := w.Connect(t)
		opts := []nodes.Option{
			nodes.WithMode(framework.Persistent),
			nodes.WithClaim(func(data []byte, _ [][]byte) bool { return string(data[:2]) == "me" }),
		}
		mine := start(t, c, "/mine", "me", opts...)
		w.ready(t, mine)
		require.Equal(t, "me", w.dataOf("/mine"))
		require.NoError(t, mine.Shutdown(w.Patience(t)))

		theirs := start(t, c, "/theirs", "me", opts...)
		_, err := theirs.WaitRegistered(recipetest.Within(t, time.Minute))
		require.ErrorIs(t, err, nodes.ErrConflict)
		require.NoError(t, w.Fake.Set("/theirs", []byte("me at last")))
		w.ready(t, theirs)
		require.NoError(t, theirs.Shutdown(w.Patience(t)))
		require.NotContains(t, w.Fake.Children("/"), "theirs")
	})
}

// The function of WithClaim is given the data that the node is known to have had last,
// and what it was to have since then.
func TestClaimIsGivenWhatOursMaySay(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, network := w.Connect(t)
		var ours []string
		n := start(t, c, "/n", "1", nodes.WithMode(framework.Persistent), nodes.WithClaim(func(_ []byte, all [][]byte) bool {
			ours = nil
			for _, data := range all {
				ours = append(ours, string(data))
			}
			return false
		}))
		w.ready(t, n)
		synctest.Wait()
		w.Fake.Inject(zktest.Rule{Op: zktest.OpSetData, Do: zktest.DelayReply(time.Second)})
		require.Error(t, n.Set(recipetest.Within(t, time.Millisecond), []byte("2")))
		written, _ := n.Written()
		require.Equal(t, "1", string(written))
		time.Sleep(time.Minute) // the node has it now
		written, _ = n.Written()
		require.Equal(t, "2", string(written))
		network.Refuse(true)
		network.Cut()
		synctest.Wait()
		for _, data := range []string{"3", "4"} {
			require.Error(t, n.Set(recipetest.Within(t, time.Millisecond), []byte(data)))
		}
		require.NoError(t, w.Fake.Delete("/n"))
		require.NoError(t, w.Fake.Create("/n", []byte("theirs")))
		network.Refuse(false)
		require.NoError(t, c.WaitConnected(w.Patience(t)))
		settle()
		_, err := n.WaitRegistered(recipetest.Within(t, time.Minute))
		require.ErrorIs(t, err, nodes.ErrConflict)
		require.Equal(t, []string{"2", "3", "4"}, ours)
	})
}
