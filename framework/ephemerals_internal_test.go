package framework

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest"
)

// The answer to a look may be older than the newest creation of the node.
func TestNodeThatWasMadeAnewDuringALookCounts(t *testing.T) {
	var e ephemerals
	e.add("/n")
	looked := e.listLocked()
	e.removeLocked("/n")
	e.add("/n")
	e.remove(looked[0].path, looked[0].number)
	require.Len(t, e.paths, 1)
	require.Equal(t, pathHeader+len("/n"), e.size)
}

// The client learns of a node by a look, because the reply to the request was
// lost.
func TestNodeThatWasFoundByALookCounts(t *testing.T) {
	for name, row := range map[string]struct {
		op     zktest.Op
		create func(ctx context.Context, c *Client) error
	}{
		"transaction": {zktest.OpMulti, func(ctx context.Context, c *Client) error {
			_, err := c.Transaction(ctx, SetOp("/", nil, 0), CreateOp("/e", nil, WithMode(Ephemeral)))
			return err
		}},
		"create that was given up": {zktest.OpCreate, func(ctx context.Context, c *Client) error {
			given, up := context.WithTimeout(ctx, time.Millisecond)
			defer up()
			_, err := c.Create(given, "/e", nil, WithMode(Ephemeral))
			require.ErrorIs(t, err, ErrOutcomeUnknown)
			return nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := zktest.Start(t)
				c, err := New(srv.Addr(), WithDialer(srv.Dialer()))
				require.NoError(t, err)
				defer c.Close()
				s, err := c.Session(t.Context())
				require.NoError(t, err)
				srv.Inject(zktest.Rule{Op: row.op, Do: zktest.All(zktest.DelayRequest(time.Second), zktest.DropReply())})
				require.NoError(t, row.create(t.Context(), c))
				time.Sleep(time.Minute)
				s.ephemerals.mu.Lock()
				defer s.ephemerals.mu.Unlock()
				require.Contains(t, s.ephemerals.paths, "/e")
			})
		})
	}
}
