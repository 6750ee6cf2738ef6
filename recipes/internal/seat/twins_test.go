package seat

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// A contender whose create has made two nodes does not wait for itself. Nodes of
// other contenders of its client stay.
//
// Promise: A contender whose create was applied twice deletes the second node and does not wait for it.
func TestContenderDoesNotWaitForItsOtherNode(t *testing.T) {
	inBubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		var other NotAcquired
		refuses := func(cfg *Config) {
			cfg.NotAcquired = func(n NotAcquired) error {
				other = n
				return ErrNotAcquired
			}
		}
		require.NoError(t, srv.Create("/l", nil))
		srv.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.Call(func(r zktest.Request) {
			_ = srv.Create(r.Path+"0000000000", nil)
		})})
		lease, err := mutex(c, refuses).Acquire(t.Context(), false)
		require.NoError(t, err)
		synctest.Wait()
		require.Equal(t, []string{lease.Path()[len("/l/"):]}, srv.Children("/l"))
		require.Contains(t, lease.Path(), "lock-0000000001")

		differs := func(cfg *Config) { cfg.Anonymous = true } // so that it is in another lane
		_, err = mutex(c, refuses, differs).Acquire(t.Context(), false)
		require.ErrorIs(t, err, ErrNotAcquired, "one node for each")
		require.True(t, other.Own)
		time.Sleep(time.Second)
		require.Equal(t, []string{lease.Path()[len("/l/"):]}, srv.Children("/l"))
		require.NoError(t, lease.Release(t.Context()))
	})
}
