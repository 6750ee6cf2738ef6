package framework_test

import (
	"context"
	"log/slog"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// A function that ends its goroutine keeps no other one from being called.
func TestAfterTrustCallsAllWhateverOneDoes(t *testing.T) {
	for name, end := range map[string]func(*zktest.Server, *framework.Client){
		"lost":   func(srv *zktest.Server, c *framework.Client) { srv.Session(c.SessionID()).Expire() },
		"closed": func(_ *zktest.Server, c *framework.Client) { c.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				s, err := c.Session(t.Context())
				require.NoError(t, err)
				var calls atomic.Int32
				for range 10 {
					s.AfterTrust(state.SessionPolicy, func() {
						calls.Add(1)
						runtime.Goexit()
					})
				}
				end(srv, c)
				time.Sleep(time.Second)
				require.EqualValues(t, 10, calls.Load())
			})
		})
	}
}

// exitHandler ends the goroutine in Enabled, if the stack has such a function.
type exitHandler struct {
	slog.Handler
	in   string
	hits *atomic.Int32
}

func (h exitHandler) Enabled(context.Context, slog.Level) bool {
	stack := make([]byte, 1<<14)
	if strings.Contains(string(stack[:runtime.Stack(stack, false)]), h.in) && h.hits.Add(1) == 1 {
		runtime.Goexit()
	}
	return true
}

// The log's handler ends the goroutine of a connection that ends, which is about
// to log that servers hang up on a request.
func TestHandlerThatEndsTheGoroutineOfAConnectionThatEnds(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		var hits atomic.Int32
		c := newClient(t, srv, framework.WithLogger(slog.New(exitHandler{slog.DiscardHandler, ").endedWith(", &hits})))
		mustCreate(t, c, "/poison", "")
		poison := hangsUp(srv, zktest.OpSetData, "/poison")
		for begin := time.Now(); time.Since(begin) < time.Minute; {
			c.Set(within(t, time.Second), "/poison", []byte("data"), framework.AnyVersion)
		}
		poison.Remove()
		require.NotZero(t, hits.Load())
		_, _, err := c.Get(within(t, time.Minute), "/poison")
		closed := make(chan struct{})
		go func() { c.Close(); close(closed) }()
		select {
		case <-closed:
		case <-time.After(time.Minute):
			t.Error("Close does not return")
		}
		require.NoError(t, err)
	})
}
