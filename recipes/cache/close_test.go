package cache_test

import (
	"bytes"
	"log/slog"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/testing/zktest"
)

// The close of the client ends the requests of a cache, and the context of the
// cache, in any order. That a read was ended is nothing that the server has said
// of the node.
func TestCloseOfTheClientDeletesNothing(t *testing.T) {
	for name, start := range servers {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := start(t)
				create(t, srv, "/r", "/r/a")
				var log bytes.Buffer
				client := connect(t, srv, framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
				caches := make([]*cache.Cache, 100)
				for i := range caches {
					caches[i] = open(t, client, "/r")
				}
				for _, op := range []zktest.Op{zktest.OpGetData, zktest.OpMultiRead} {
					srv.Inject(zktest.Rule{Op: op, Times: -1, Do: zktest.DelayReply(time.Hour)})
				}
				require.NoError(t, srv.Set("/r/a", []byte("new")))
				time.Sleep(time.Millisecond) // it is being read
				require.NoError(t, client.Close())
				synctest.Wait()
				for _, c := range caches {
					require.Equal(t, []string{"/r", "/r/a"}, paths(c))
				}
				require.NotContains(t, log.String(), "cannot read")
			})
		})
	}
}

// The user's code ends the goroutine that reads a node. The cache ends: what it
// has would get old, and nobody would know.
func TestUsersCodeThatEndsAReadEndsTheCache(t *testing.T) {
	for name, start := range servers {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := start(t)
				create(t, srv, "/r", "/r/a")
				var exits atomic.Bool
				client := connect(t, srv, framework.WithRetry(func() backoff.BackOff {
					if exits.Load() {
						runtime.Goexit()
					}
					return backoff.NewConstantBackOff(time.Second)
				}))
				c := open(t, client, "/r")
				exits.Store(true)
				srv.Inject(zktest.Rule{Op: zktest.OpGetData, Do: zktest.DropReply()})
				require.NoError(t, srv.Set("/r/a", []byte("new")))
				time.Sleep(time.Minute)
				synctest.Wait()
				require.ErrorContains(t, c.Err(), "has ended its goroutine")
				<-c.Done()
			})
		})
	}
}

// The user's code ends the goroutine that reads a node while the cache makes a
// pause, because a server refuses its watch. The error says what has happened,
// and not that something was canceled.
func TestErrorOfACacheThatTheUsersCodeEndsDuringAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		create(t, srv, "/r", "/r/a")
		policy := &exitingPolicy{}
		client := connect(t, srv, framework.WithRetry(func() backoff.BackOff { return policy }))
		c := open(t, client, "/r")
		srv.Inject(zktest.Rule{Op: zktest.OpGetData, Times: -1, Do: zktest.DropReply()})
		require.NoError(t, srv.Set("/r/a", []byte("new")))
		time.Sleep(time.Millisecond) // it is being read
		srv.Inject(zktest.Rule{Op: zktest.OpAddWatch, Times: -1, Do: zktest.Fail(zktest.ErrSystem)})
		srv.Session(client.SessionID()).Expire()
		time.Sleep(2500 * time.Millisecond)
		require.NoError(t, c.Err())
		policy.exits.Store(true)
		<-c.Done()
		require.EqualError(t, c.Err(), `cache of "/r": function of the user's has ended its goroutine`)
	})
}

// exitingPolicy is a retry policy that ends the goroutines that ask it.
type exitingPolicy struct{ exits atomic.Bool }

func (p *exitingPolicy) Reset() {}

func (p *exitingPolicy) NextBackOff() time.Duration {
	if p.exits.Load() {
		runtime.Goexit()
	}
	return time.Second
}
