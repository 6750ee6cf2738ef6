package framework_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// The server refuses a write of a version, because the same data was written over
// that version before, and the refusal is lost. Nobody wins a second time.
func TestRefusalThatIsLostIsNoSuccess(t *testing.T) {
	taken := []byte("taken")
	for name, take := range map[string]func(ctx context.Context, c *framework.Client) error{
		"set": func(ctx context.Context, c *framework.Client) error {
			_, err := c.Set(ctx, "/slot", taken, 0)
			return err
		},
		"create or set": func(ctx context.Context, c *framework.Client) error {
			_, err := c.Create(ctx, "/slot", taken, framework.WithOverwrite(0))
			return err
		},
		"set of an ACL": func(ctx context.Context, c *framework.Client) error {
			_, err := c.SetACL(ctx, "/slot", zk.WorldACL(zk.PermAll&^zk.PermDelete), 0)
			return err
		},
		"transaction": func(ctx context.Context, c *framework.Client) error {
			_, err := c.Transaction(ctx, framework.SetOp("/slot", taken, 0), framework.DeleteOp("/job", framework.AnyVersion))
			return err
		},
		"transaction behind a fence": func(ctx context.Context, c *framework.Client) error {
			_, err := c.Transaction(ctx, framework.CheckOp("/fence", framework.AnyVersion), framework.SetOp("/slot", taken, 0))
			return err
		},
	} {
		for _, own := range []bool{true, false} {
			bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				first := c
				if !own {
					first = another(t, srv)
				}
				for _, path := range []string{"/slot", "/job", "/fence"} {
					mustCreate(t, c, path, "")
				}
				require.NoError(t, take(t.Context(), first), name)
				require.NoError(t, srv.Delete("/fence"))
				time.Sleep(time.Hour)
				require.False(t, framework.IsConnectionError(take(t.Context(), c)), name)
				srv.Inject(zktest.Rule{Optional: true, Op: zktest.OpSetData, Do: zktest.DropReply()})
				srv.Inject(zktest.Rule{Optional: true, Op: zkinside.OpSetACL, Do: zktest.DropReply()})
				srv.Inject(zktest.Rule{Optional: true, Op: zktest.OpMulti, Do: zktest.DropReply()})
				require.ErrorIs(t, take(t.Context(), c), framework.ErrOutcomeUnknown, name)
			})
		}
	}
}

func TestGuaranteedDeleteOnACancelledContextIsDone(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		mustCreate(t, c, "/n", "")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := c.Delete(ctx, "/n", framework.AnyVersion, framework.WithGuarantee())
		require.ErrorIs(t, err, context.Canceled)
		require.NoError(t, srv.WaitChildren(within(t, time.Second), "/", 1))
	})
}

// CURATOR-42, CURATOR-10: only errors that may pass are retried.
func TestGuaranteedDeleteThatTheServerRefusesIsGivenUp(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		mustCreate(t, c, "/n", "")
		mustCreate(t, c, "/n/child", "")
		require.ErrorIs(t, c.Delete(t.Context(), "/n", framework.AnyVersion, framework.WithGuarantee()), zk.ErrNotEmpty)
		time.Sleep(time.Minute)
		require.Equal(t, 1, srv.CountRequests(zktest.OpDelete))
	})
}
