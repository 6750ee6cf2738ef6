package framework_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// gate is a handler that blocks until it is opened. Then it writes on, as text.
type gate struct {
	slog.Handler
	opened chan struct{}
	open   func()
}

// newGate returns a closed gate for all levels, and what will have been written
// behind it.
func newGate() (*gate, *lockedBuffer) {
	var written lockedBuffer
	return gateTo(slog.NewTextHandler(&written, &slog.HandlerOptions{Level: slog.LevelDebug})), &written
}

func gateTo(h slog.Handler) *gate {
	opened := make(chan struct{})
	return &gate{h, opened, sync.OnceFunc(func() { close(opened) })}
}

func (g *gate) Handle(ctx context.Context, line slog.Record) error {
	<-g.opened
	return g.Handler.Handle(ctx, line)
}

func (g *gate) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &gate{g.Handler.WithAttrs(attrs), g.opened, g.open}
}

// The client library logs while it connects, in the middle of it.
func TestLogHandlerThatBlocksHoldsUpNothing(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		blocked, written := newGate()
		defer blocked.open()
		c := unclosed(t, srv, framework.WithLogger(slog.New(blocked)))
		begin := time.Now()
		require.NoError(t, c.WaitConnected(t.Context()))
		mustCreate(t, c, "/n", "")
		session, err := c.Session(t.Context())
		require.NoError(t, err)
		srv.Session(session.ID()).Expire()
		srv.CutAll()
		<-session.Context().Done()
		_, _, err = c.Get(t.Context(), "/n")
		require.NoError(t, err)
		require.Less(t, time.Since(begin), sessionTimeout)

		require.Equal(t, time.Second, closing(t, c), "the bound of the wait for the handler")
		srv.AssertNoSessions(t)
		blocked.open()
		require.Contains(t, written.String(), "Reconnected", "the lines were not lost")
	})
}
