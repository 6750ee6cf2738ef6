package framework_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
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

// A handler that is slow and not stuck is waited for.
func TestCloseWritesEveryLine(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		slow, written := newGate()
		defer slow.open()
		c := unclosed(t, srv, framework.WithLogger(slog.New(slow)))
		require.NoError(t, c.WaitConnected(t.Context()))
		framework.Extend(c).Logger().Info("the last line")
		time.AfterFunc(900*time.Millisecond, slow.open)
		require.Equal(t, 900*time.Millisecond, closing(t, c))
		require.Contains(t, written.buf.String(), "the last line") // it is there already
	})
}

type logKey struct{}

// seen is a line as a handler gets it.
type seen struct {
	line    slog.Record
	value   any
	ctxOver bool
}

// collector is a handler that remembers lines.
type collector struct {
	slog.Handler
	mu    *sync.Mutex
	lines *[]seen
}

func (c collector) Handle(ctx context.Context, line slog.Record) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	*c.lines = append(*c.lines, seen{line, ctx.Value(logKey{}), ctx.Err() != nil})
	return nil
}

func TestLoggedLinesKeepTheirOrderTimesAndContexts(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		var lines []seen
		slow := gateTo(collector{slog.NewTextHandler(nil, nil), new(sync.Mutex), &lines})
		defer slow.open()
		c := unclosed(t, srv, framework.WithLogger(slog.New(slow)))
		require.NoError(t, c.WaitConnected(t.Context()))
		begin := time.Now()
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), logKey{}, "here"))
		for i := range 100 {
			framework.Extend(c).Logger().InfoContext(ctx, fmt.Sprint(i))
			time.Sleep(time.Second)
		}
		cancel()
		slow.open()
		require.NoError(t, c.Close())
		lines = slices.DeleteFunc(lines, func(l seen) bool { return strings.HasPrefix(l.line.Message, "zookeeper ") })
		require.Len(t, lines, 100)
		for i, l := range lines {
			require.Equal(t, fmt.Sprint(i), l.line.Message)
			require.True(t, l.line.Time.Equal(begin.Add(time.Duration(i)*time.Second)))
			require.Equal(t, "here", l.value)
			require.False(t, l.ctxOver, "the line is written behind the end of its context")
			require.NotZero(t, l.line.PC)
		}
	})
}

func TestLoggedLinesKeepAttributesAndGroups(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		var written lockedBuffer
		c := unclosed(t, srv, framework.WithLogger(slog.New(slog.NewTextHandler(&written, nil)).With("app", "shop")))
		log := framework.Extend(c).Logger().With("a", 1).WithGroup("g").With("b", 2)
		log.Info("line", "c", 3)
		log.Debug("not written")
		require.NoError(t, c.Close())
		require.Contains(t, written.String(), "msg=line app=shop a=1 g.b=2 g.c=3\n")
		require.NotContains(t, written.String(), "not written")
	})
}

func TestFullLogQueueDropsTheNewestLinesAndSaysSo(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		slow, written := newGate()
		defer slow.open()
		c := unclosed(t, srv, framework.WithLogger(slog.New(slow)))
		require.NoError(t, c.WaitConnected(t.Context()))
		synctest.Wait()
		const room = 1 << 14
		for i := range room + 10 {
			framework.Extend(c).Logger().Info("line", "n", i)
		}
		slow.open()
		synctest.Wait()
		framework.Extend(c).Logger().Info("later")
		require.NoError(t, c.Close())
		text := written.String()
		var n, dropped int
		_, err := fmt.Sscanf(text[strings.Index(text, "curator.log.dropped="):], "curator.log.dropped=%d", &dropped)
		require.NoError(t, err)
		n = strings.Count(text, "msg=line")
		require.Equal(t, room+10, n+dropped)
		require.Equal(t, room, strings.Count(text[:strings.Index(text, "curator.log.dropped=")], "\n"), "what was there stays")
		require.Contains(t, text, fmt.Sprintf("msg=line n=%d\n", n-1))
		require.Equal(t, 1, strings.Count(text, "curator.log.dropped"))
		require.Less(t, strings.Index(text, "curator.log.dropped"), strings.Index(text, "msg=later"))
	})
}

// Lines behind Close, such as those of work that goes on, are written, too.
func TestLinesAreWrittenBehindClose(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		var written lockedBuffer
		c := unclosed(t, srv, framework.WithLogger(slog.New(slog.NewTextHandler(&written, nil))))
		require.NoError(t, c.Close())
		framework.Extend(c).Logger().Info("behind")
		require.Contains(t, written.String(), "behind")
	})
}
