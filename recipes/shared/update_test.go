package shared_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/codec"
	"github.com/gocurator/curator/recipes/shared"
	"github.com/gocurator/curator/testing/zktest"
)

func increase(old int32) (int32, error) { return old + 1, nil }

// Somebody else writes, or deletes the node, while the function runs. It is
// called again with what is there then.
//
// Promise: An Update that lost a race is made again with the current value.
func TestUpdateIsCalledAgainWithWhatIsThere(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		n := w.count(t, c, "/n", 1)
		var olds []int32
		now, err := n.Update(t.Context(), func(old int32) (int32, error) {
			switch olds = append(olds, old); len(olds) {
			case 1:
				require.NoError(t, w.Fake.Set("/n", bytesOf(5)))
			case 2:
				require.NoError(t, w.Fake.Delete("/n"))
			}
			return old + 10, nil
		})
		require.NoError(t, err)
		require.Equal(t, []int32{1, 5, 1}, olds, "the seed stands for no node")
		require.EqualValues(t, 11, now.Value)
		require.EqualValues(t, 11, w.onServer(t, "/n"))
		require.Equal(t, now, get(t, n))
	})
}

// What keeps Update from changing the value is its error, and the node stays as
// it is.
func TestUpdateThatFails(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		n := w.count(t, c, "/n", 1)
		mine := errors.New("mine")
		_, err := n.Update(t.Context(), func(int32) (int32, error) { return 7, mine })
		require.ErrorIs(t, err, mine)
		require.EqualError(t, err, "update /n: mine")
		_, err = n.Update(t.Context(), nil)
		require.ErrorIs(t, err, zk.ErrBadArguments)
		_, err = n.Update(canceled(), increase)
		require.ErrorIs(t, err, canceled().Err())
		require.EqualValues(t, 1, w.onServer(t, "/n"))

		require.NoError(t, w.Fake.Set("/n", []byte("no number")))
		_, err = n.Update(t.Context(), increase)
		var undecoded *codec.DecodeError
		require.ErrorAs(t, err, &undecoded)
		require.NoError(t, n.Close())
		_, err = n.Update(t.Context(), increase)
		require.ErrorIs(t, err, shared.ErrClosed)
	})
}

// A reply is lost, and the session lives. What the node tells decides, as for
// TrySet.
func TestUpdateWhoseReplyIsLost(t *testing.T) {
	for name, test := range map[string]struct {
		lose    zktest.Action
		unknown bool
	}{
		"not sent": {lose: zktest.DropRequest()},
		"applied":  {lose: zktest.DropReply(), unknown: true},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				c, _ := w.Connect(t)
				n := w.count(t, c, "/n", 1)
				synctest.Wait()
				w.Fake.Inject(zktest.Rule{Op: zktest.OpMulti, Session: c.SessionID(), Do: test.lose})
				_, err := n.Update(w.Patience(t), increase)
				if test.unknown {
					require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
				} else {
					require.NoError(t, err)
				}
				require.EqualValues(t, 2, w.onServer(t, "/n"), "once")
			})
		})
	}
}

// Close ends the pause of an Update that others were ahead of, and the function
// is not called again. So does the end of the client.
//
// Promise: A waiting Update ends when the client is closed and does not call its function again.
func TestCloseEndsThePauseOfAnUpdate(t *testing.T) {
	for reason, end := range map[error]func(n *shared.Count, c *framework.Client){
		shared.ErrClosed:    func(n *shared.Count, _ *framework.Client) { n.Close() },
		framework.ErrClosed: func(_ *shared.Count, c *framework.Client) { c.Close() },
	} {
		inVirtualTime(t, func(t *testing.T, w *world) {
			c, _ := w.Connect(t)
			n := w.count(t, c, "/n", 1)
			var closedAt time.Time // zero before that
			var closed atomic.Bool
			_, err := n.Update(t.Context(), func(old int32) (int32, error) {
				require.False(t, closed.Load())
				require.NoError(t, w.Fake.Set("/n", bytesOf(old+1)))
				if old == 20 {
					time.AfterFunc(100*time.Millisecond, func() {
						closedAt = time.Now()
						closed.Store(true)
						end(n, c)
					})
				}
				return old, nil
			})
			require.ErrorIs(t, err, reason)
			require.Zero(t, time.Since(closedAt))
		})
	}
}
