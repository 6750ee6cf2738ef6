package framework_test

import (
	"context"
	"log/slog"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
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

// exitHandler is a log handler that ends each goroutine that calls it.
type exitHandler struct {
	slog.Handler
	asked, written *atomic.Int32
}

func (h exitHandler) Enabled(context.Context, slog.Level) bool {
	h.asked.Add(1)
	runtime.Goexit()
	return true
}

func (h exitHandler) Handle(context.Context, slog.Record) error {
	h.written.Add(1)
	runtime.Goexit()
	return nil
}

// The library logs on its own loop while it connects, and the client when a
// connection ends on which servers hang up, and when a session does. None of
// that ends with a handler of the user's.
func TestLogHandlerThatEndsGoroutinesEndsNoneOfTheClients(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		log := exitHandler{slog.DiscardHandler, new(atomic.Int32), new(atomic.Int32)}
		c := unclosed(t, srv, framework.WithLogger(slog.New(log)))
		require.NoError(t, c.WaitConnected(within(t, time.Minute)))
		mustCreate(t, c, "/poison", "")
		poison := hangsUp(srv, zktest.OpSetData, "/poison")
		for begin := time.Now(); time.Since(begin) < time.Minute; {
			c.Set(within(t, time.Second), "/poison", []byte("data"), framework.AnyVersion)
		}
		poison.Remove()
		srv.Session(c.SessionID()).Expire()
		time.Sleep(time.Minute)
		_, _, err := c.Get(within(t, time.Minute), "/poison")
		require.NoError(t, err)
		require.Less(t, closing(t, c), time.Second)
		require.Equal(t, log.asked.Load(), log.written.Load(), "without an answer, the line is written")
		require.Greater(t, log.written.Load(), int32(10))
	})
}

// exitHandle is a log handler that ends the goroutine that writes a bad line.
type exitHandle struct{ slog.Handler }

func (h exitHandle) Handle(ctx context.Context, line slog.Record) error {
	if line.Message == "bad" {
		runtime.Goexit()
	}
	return h.Handler.Handle(ctx, line)
}

// A line whose handler has ended its goroutine does not wait any more. More of
// them than may wait leave room for others.
func TestLinesThatEndGoroutinesLeaveRoomForOthers(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		var written lockedBuffer
		c := unclosed(t, srv, framework.WithLogger(slog.New(exitHandle{slog.NewTextHandler(&written, nil)})))
		const room = 1 << 14
		for range 2 {
			for range room / 2 {
				framework.Extend(c).Logger().Info("bad")
			}
			synctest.Wait()
		}
		framework.Extend(c).Logger().Info("good")
		require.NoError(t, c.Close())
		require.Contains(t, written.String(), "msg=good")
		require.NotContains(t, written.String(), "curator.log.dropped")
	})
}
