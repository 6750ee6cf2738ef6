package framework_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// attemptLimit ends a context after so many operations: a loop without a pause
// would not end, and time would stand still.
type attemptLimit struct {
	ended  atomic.Int32
	cancel context.CancelFunc
}

const maxAttempts = 20

func (l *attemptLimit) EndOperation(context.Context, clienttrace.OperationEnd) {
	if l.ended.Add(1) == maxAttempts {
		l.cancel()
	}
}

// limited runs a test in virtual time with a context that ends when the client makes
// too many attempts. The server refuses connections until the test lets it take them.
func limited(
	t *testing.T, test func(t *testing.T, ctx context.Context, srv *zktest.Server, c *framework.Client),
	opts ...framework.Option,
) {
	t.Helper()
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		limit := &attemptLimit{cancel: cancel}
		srv.RefuseConnections(true)
		test(t, ctx, srv, newClient(t, srv, append(opts, framework.WithHooks(limit))...))
		require.Less(t, limit.ended.Load(), int32(maxAttempts))
	})
}

// watchError returns the only element of a Watch.
func watchError(t *testing.T, c *framework.Client, ctx context.Context) (err error) {
	t.Helper()
	elements := 0
	for _, err = range c.Watch(ctx, "/n") {
		elements++
	}
	require.Equal(t, 1, elements)
	return err
}

// Attempts that fail at once because there is no connection are no loop without a
// pause.
func TestWatchWaitsWithoutASpin(t *testing.T) {
	limited(t, func(t *testing.T, ctx context.Context, srv *zktest.Server, c *framework.Client) {
		time.AfterFunc(time.Minute, func() { srv.RefuseConnections(false) })
		begin := time.Now()
		for ev, err := range c.Watch(ctx, "/n") {
			require.NoError(t, err)
			require.True(t, ev.Reset)
			break
		}
		require.GreaterOrEqual(t, time.Since(begin), time.Minute)
	}, framework.WithConnectionTimeout(time.Nanosecond))
}

// Such contexts do not end with the session or the connection, but their
// operations fail from then on.
func TestWatchEndsWithWhatItsContextIsBoundTo(t *testing.T) {
	limited(t, func(t *testing.T, ctx context.Context, srv *zktest.Server, c *framework.Client) {
		srv.RefuseConnections(false)
		require.ErrorIs(t, c.InSession(ctx, func(pinned context.Context) error {
			renewSession(t, srv, c)
			longer, cancel := context.WithCancel(context.WithoutCancel(pinned))
			defer cancel()
			defer context.AfterFunc(ctx, cancel)()
			return watchError(t, c, longer)
		}), framework.ErrSessionLost)
	})
	limited(t, func(t *testing.T, ctx context.Context, srv *zktest.Server, c *framework.Client) {
		srv.RefuseConnections(false)
		s, err := c.Session(ctx)
		require.NoError(t, err)
		connection := s.Trusted(state.StandardPolicy)
		srv.CutAll()
		<-connection.Done()
		err = watchError(t, c, insider.Of(c).WhileConnected(ctx, connection))
		require.ErrorIs(t, err, framework.ErrSuspended)
	})
}

// The same without a server: no other session is there that tells them apart.
func TestWatchOfALostSessionDoesNotWaitForAServer(t *testing.T) {
	limited(t, func(t *testing.T, ctx context.Context, srv *zktest.Server, c *framework.Client) {
		srv.RefuseConnections(false)
		require.ErrorIs(t, c.InSession(ctx, func(pinned context.Context) error {
			srv.RefuseConnections(true)
			srv.CutAll()
			<-pinned.Done()
			longer, cancel := context.WithTimeout(context.WithoutCancel(pinned), time.Hour)
			defer cancel()
			return watchError(t, c, longer)
		}), framework.ErrSessionLost)
	})
}
