package framework_test

import (
	"context"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/testing/zktest"
)

// balance counts operations that have begun and not ended.
type balance struct {
	clienttrace.NoTracer
	open int
	last error
}

func (b *balance) StartOperation(ctx context.Context, _ clienttrace.Operation) context.Context {
	b.open++
	return ctx
}

func (b *balance) EndOperation(_ context.Context, end clienttrace.OperationEnd) {
	b.open--
	b.last = end.Err
}

// A create whose ACL provider panics gives the path of a plain ephemeral node
// back, and the Tracer hears of its end.
func TestPanicOfTheACLProvider(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		panics := true
		tracer := &balance{}
		c := newClient(t, srv, framework.WithTracer(tracer), framework.WithACLProvider(func(string) []zk.ACL {
			if panics {
				panic("no list")
			}
			return zk.WorldACL(zk.PermAll)
		}))
		create := func() (framework.Created, error) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			return c.Create(ctx, "/x", nil, framework.WithMode(framework.Ephemeral))
		}
		require.Panics(t, func() { create() })
		require.Zero(t, tracer.open)
		require.ErrorContains(t, tracer.last, "create /x: panicked")
		panics = false
		_, err := create()
		require.NoError(t, err)
	})
}

// A guaranteed delete whose retry policy panics is carried out nevertheless.
func TestPanicOfTheRetryPolicy(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		panics := false
		c := newClient(t, srv, framework.WithRetry(func() backoff.BackOff {
			if panics {
				panic("no schedule")
			}
			return backoff.NewConstantBackOff(time.Second)
		}))
		require.NoError(t, c.WaitConnected(t.Context()))
		require.NoError(t, srv.Create("/x", nil))
		srv.Inject(zktest.Rule{Op: zktest.OpDelete, Do: zktest.DropRequest()})
		panics = true
		require.Panics(t, func() { c.Delete(t.Context(), "/x", framework.AnyVersion, framework.Guaranteed()) })
		time.Sleep(time.Minute)
		_, there := srv.Node("/x")
		require.False(t, there)
	})
}
