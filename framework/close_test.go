package framework_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// unclosed is newClient for tests of Close: nothing closes the client but the
// test.
func unclosed(t *testing.T, srv *zktest.Server, opts ...framework.Option) *framework.Client {
	t.Helper()
	c, err := framework.New(srv.Addr(), append([]framework.Option{
		framework.WithDialer(srv.Dialer()), framework.WithSessionTimeout(sessionTimeout),
	}, opts...)...)
	require.NoError(t, err)
	return c
}

// closing closes a client and returns how long that took.
func closing(t *testing.T, c *framework.Client) time.Duration {
	t.Helper()
	begin := time.Now()
	require.NoError(t, c.Close())
	return time.Since(begin)
}

func TestCloseEndsTheSessionOnTheServerAtOnce(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c := unclosed(t, srv)
		mustCreate(t, c, "/e", "", framework.WithMode(framework.Ephemeral))
		_, _, _, err := c.GetW(t.Context(), "/e")
		require.NoError(t, err)
		require.Zero(t, closing(t, c))
		synctest.Wait()
		require.Empty(t, srv.Sessions())
		require.Empty(t, srv.Tree())
		require.Empty(t, srv.Watches())
		require.Zero(t, srv.Stats().Connections)
	})
}

func TestOperationsOnAClosedClientReturnErrClosed(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c := unclosed(t, srv)
		require.NoError(t, c.WaitConnected(t.Context()))
		require.NoError(t, c.Close())
		begin := time.Now()
		for name, call := range everyOperation(c) {
			err := call(context.Background(), "/n")
			require.ErrorIs(t, err, framework.ErrClosed, name)
			require.NotErrorIs(t, err, framework.ErrOutcomeUnknown, name)
			require.ErrorIs(t, call(t.Context(), "/n"), framework.ErrClosed, name)
		}
		_, err := c.Session(t.Context())
		require.ErrorIs(t, err, framework.ErrClosed)
		require.False(t, framework.Extend(c).Go(func(context.Context) { t.Error("a closed client starts nothing") }))
		require.Zero(t, time.Since(begin))
	})
}

// flood starts several of every operation and returns a function that waits for
// their errors.
func flood(c *framework.Client, ctx context.Context, each int) (wait func() []error) {
	var mu sync.Mutex
	var errs []error
	var all sync.WaitGroup
	for _, call := range everyOperation(c) {
		for range each {
			all.Go(func() {
				err := call(ctx, "/n")
				mu.Lock()
				defer mu.Unlock()
				errs = append(errs, err)
			})
		}
	}
	return func() []error { all.Wait(); return errs }
}

// The situations in which Close may find a client. Each returns the client with
// operations under way that cannot end by themselves.
var closeSituations = map[string]struct {
	reachable bool // the server can hear of the end
	bound     time.Duration
	begin     func(t *testing.T, srv *zktest.Server, ctx context.Context) (*framework.Client, func() []error)
}{
	"requests unanswered": {true, time.Second, func(t *testing.T, srv *zktest.Server, ctx context.Context) (*framework.Client, func() []error) {
		c := unclosed(t, srv)
		mustCreate(t, c, "/n", "")
		srv.Inject(zktest.Rule{Times: -1, Op: zktest.OpGetData, Do: zktest.DelayReply(time.Hour)})
		return c, flood(c, ctx, 20)
	}},
	"disconnected": {false, time.Second, func(t *testing.T, srv *zktest.Server, ctx context.Context) (*framework.Client, func() []error) {
		c := unclosed(t, srv, framework.WithConnectionTimeout(time.Hour))
		mustCreate(t, c, "/n", "")
		srv.RefuseConnections(true)
		srv.CutAll()
		synctest.Wait()
		return c, flood(c, ctx, 20)
	}},
	"lost": {false, time.Second, func(t *testing.T, srv *zktest.Server, ctx context.Context) (*framework.Client, func() []error) {
		c := unclosed(t, srv, framework.WithConnectionTimeout(time.Hour))
		mustCreate(t, c, "/n", "")
		srv.RefuseConnections(true)
		srv.CutAll()
		time.Sleep(time.Minute)
		return c, flood(c, ctx, 20)
	}},
	"half-open": {false, time.Second, func(t *testing.T, srv *zktest.Server, ctx context.Context) (*framework.Client, func() []error) {
		c := unclosed(t, srv)
		mustCreate(t, c, "/n", "")
		srv.BlackholeAll()
		return c, flood(c, ctx, 20)
	}},
	"in a mute handshake": {false, time.Second, func(t *testing.T, srv *zktest.Server, ctx context.Context) (*framework.Client, func() []error) {
		c := unclosed(t, srv)
		mustCreate(t, c, "/n", "")
		srv.Inject(zktest.Rule{Op: zktest.OpConnect, Times: -1, Do: zktest.Blackhole()})
		srv.CutAll()
		synctest.Wait()
		return c, flood(c, ctx, 20)
	}},
	"in the first handshake": {false, time.Second, func(t *testing.T, srv *zktest.Server, ctx context.Context) (*framework.Client, func() []error) {
		srv.BlackholeAll()
		c := unclosed(t, srv)
		return c, flood(c, ctx, 20)
	}},
	"in a dial that hangs": {false, time.Second, func(t *testing.T, srv *zktest.Server, ctx context.Context) (*framework.Client, func() []error) {
		c := unclosed(t, srv, framework.WithDialer(func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}))
		return c, flood(c, ctx, 20)
	}},
	"never connected": {false, time.Second, func(t *testing.T, srv *zktest.Server, ctx context.Context) (*framework.Client, func() []error) {
		srv.RefuseConnections(true)
		c := unclosed(t, srv)
		return c, flood(c, ctx, 20)
	}},
}

func TestCloseIsBoundedAndEndsEveryOperation(t *testing.T) {
	for name, tc := range closeSituations {
		for _, cancellable := range []bool{true, false} {
			serverOnly(t, func(t *testing.T, srv *zktest.Server) {
				ctx := context.Background()
				if cancellable {
					ctx = t.Context()
				}
				c, wait := tc.begin(t, srv, ctx)
				time.Sleep(time.Millisecond)
				begin := time.Now()
				require.LessOrEqual(t, closing(t, c), tc.bound, name)
				for _, err := range wait() {
					if err != nil && !isAnswer(err) {
						require.ErrorIs(t, err, framework.ErrClosed, name)
					}
				}
				require.LessOrEqual(t, time.Since(begin), tc.bound, name)
				synctest.Wait()
				if tc.reachable {
					require.Empty(t, srv.Sessions())
					return // the server's end of the connection waits behind the answers it holds back
				}
				srv.Heal()
				synctest.Wait()
				require.Zero(t, srv.Stats().Connections, name)
			})
		}
	}
}

// isAnswer reports whether an error is one that the server gave before the
// client was closed.
func isAnswer(err error) bool {
	for _, e := range []error{zk.ErrNoNode, zk.ErrNodeExists, zk.ErrNotEmpty, zk.ErrBadVersion} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

func TestCloseMayBeCalledTwiceAndConcurrently(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c := unclosed(t, srv)
		require.NoError(t, c.WaitConnected(t.Context()))
		srv.BlackholeAll() // so that it takes a while
		var all sync.WaitGroup
		begin := time.Now()
		for range 10 {
			all.Go(func() {
				assert.NoError(t, c.Close())
				assert.Equal(t, time.Second, time.Since(begin), "each returns when all is done")
			})
		}
		all.Wait()
		require.Zero(t, closing(t, c))
	})
}

func TestCloseEndsWatchesWithErrClosed(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c := unclosed(t, srv)
		_, _, w, err := c.ExistsW(context.Background(), "/n")
		require.NoError(t, err)
		require.NoError(t, c.Close())
		_, err = w.Event()
		require.ErrorIs(t, err, framework.ErrClosed)
		require.NotErrorIs(t, err, framework.ErrSessionLost)
		w.Stop()
	})
}

func TestGoEndsWithCloseWhichWaitsForIt(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c := unclosed(t, srv)
		ended := false
		require.True(t, framework.Extend(c).Go(func(ctx context.Context) {
			<-ctx.Done()
			assert.ErrorIs(t, context.Cause(ctx), framework.ErrClosed)
			time.Sleep(time.Minute)
			ended = true
		}))
		require.NoError(t, c.Close())
		require.True(t, ended)
	})
}

// A write is under way, on a goroutine of the client, when the client is closed.
// Its context ends because of that. The write was sent, so that its outcome is
// unknown, whatever the cause of the context is.
func TestOutcomeOfAWriteWhoseContextEndsWithTheClient(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		mustCreate(t, c, "/n", "old")
		sent := srv.Inject(zktest.Rule{Op: zktest.OpSetData, Do: zktest.BlackholeReply()})
		result := make(chan error, 1)
		require.True(t, framework.Extend(c).Go(func(ctx context.Context) {
			_, err := c.Set(ctx, "/n", []byte("new"), 0)
			result <- err
		}))
		time.Sleep(10 * time.Millisecond)
		require.Equal(t, 1, sent.Hits())
		require.NoError(t, c.Close())
		err := <-result
		require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
		require.ErrorIs(t, err, framework.ErrClosed)
	})
}
