package framework

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime/pprof"
	"sync"
	"time"

	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/framework/internal/teller"
	"github.com/gocurator/curator/internal/semconv"
)

// logStates writes a line for a transition.
func (cfg *config) logStates(change clienttrace.StateChange) {
	level := slog.LevelInfo
	attrs := []slog.Attr{
		slog.String(semconv.SessionState, change.State.String()),
		slog.String(semconv.SessionID, fmt.Sprintf("0x%x", uint64(change.SessionID))),
		slog.String(semconv.ServerAddress, change.Server),
	}
	if host, port, err := net.SplitHostPort(change.Server); err == nil {
		attrs[2] = slog.String(semconv.ServerAddress, host)
		attrs = append(attrs, slog.String(semconv.ServerPort, port))
	}
	if change.Cause != nil {
		level = slog.LevelWarn
		attrs = append(attrs, slog.Any(semconv.Cause, change.Cause))
	}
	cfg.logger.LogAttrs(context.Background(), level, "zookeeper connection state changed", attrs...)
}

// libraryLogger passes the library's messages on.
type libraryLogger struct {
	to interface{ Debug(string, ...any) }
}

// Printf implements zk.Logger.
func (l libraryLogger) Printf(format string, args ...any) {
	l.to.Debug("go-zookeeper: " + fmt.Sprintf(format, args...))
}

func (c *core) logOutage(lasted time.Duration, attempt error) {
	c.cfg.logger.Warn("zookeeper servers cannot be reached",
		slog.Duration(semconv.OutageDuration, lasted), slog.Any(semconv.Cause, attempt))
}

// maxLogQueue is how many lines may wait for the user's handler: enough for the
// losses of all locks of a large client, which come at the same moment.
const maxLogQueue = 1 << 14

// logQueue passes lines on to the handler of the user's logger, in their order,
// on a goroutine of the client's. Callers that log do not wait for the handler,
// which may block.
type logQueue struct {
	teller *teller.Teller
	to     slog.Handler // told of lines that were dropped

	mu      sync.Mutex // protects the following fields
	waiting int        // lines that the handler has not returned from
	dropped int        // lines since the last one that was taken
}

// newLogger returns a logger that writes what l does, and whose callers do not
// wait.
func newLogger(l *slog.Logger, t *teller.Teller) *slog.Logger {
	q := &logQueue{teller: t, to: l.Handler()}
	return slog.New(queuedHandler{q, q.to})
}

// add leaves a line to be written. When the queue is full, it drops the line,
// and says so once there is room.
func (q *logQueue) add(write func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	missing := q.dropped
	posted := q.waiting < maxLogQueue && q.teller.Post(func() {
		defer q.written() // deferred, as write is: the handler may end the goroutine
		defer write()
		q.reportDropped(missing)
	})
	if !posted {
		q.dropped++
		return
	}
	q.waiting++
	q.dropped = 0
}

// written is called when the handler has returned from a line. If lines were
// dropped behind the last one, this says so.
func (q *logQueue) written() {
	q.mu.Lock()
	q.waiting--
	missing := 0
	if q.waiting == 0 {
		missing, q.dropped = q.dropped, 0
	}
	q.mu.Unlock()
	q.reportDropped(missing)
}

func (q *logQueue) reportDropped(n int) {
	ctx := context.Background()
	if n == 0 || !q.to.Enabled(ctx, slog.LevelWarn) {
		return
	}
	line := slog.NewRecord(time.Now(), slog.LevelWarn, "log lines dropped, because the handler did not keep up", 0)
	line.AddAttrs(slog.Int(semconv.LogDropped, n))
	q.to.Handle(ctx, line)
}

// queuedHandler is a handler of the user's behind a queue.
type queuedHandler struct {
	queue *logQueue
	to    slog.Handler
}

// Enabled implements slog.Handler. It asks the user's handler on a goroutine of
// its own, and waits for it: many goroutines log that must go on, such as the
// library's loop. If the handler ends that goroutine, the answer is yes.
func (h queuedHandler) Enabled(ctx context.Context, level slog.Level) bool {
	if h.to == slog.DiscardHandler { // the default
		return false
	}
	enabled, err := callApart(func() (bool, error) { return h.to.Enabled(ctx, level), nil })
	return enabled || err != nil
}

// Handle implements slog.Handler. It never returns an error, because the line
// is written later. The context keeps its values, by which handlers find a
// trace, but does not end.
func (h queuedHandler) Handle(ctx context.Context, line slog.Record) error {
	ctx, line = context.WithoutCancel(ctx), line.Clone()
	h.queue.add(func() { h.to.Handle(ctx, line) })
	return nil
}

// WithAttrs implements slog.Handler.
func (h queuedHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return queuedHandler{h.queue, h.to.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h queuedHandler) WithGroup(name string) slog.Handler {
	return queuedHandler{h.queue, h.to.WithGroup(name)}
}

// errNoReturn is the error of a function of the user's that has ended its
// goroutine instead of returning, as a test's FailNow does.
var errNoReturn = errors.New("function of the user's has ended its goroutine")

// callApart calls a function of the user's on a goroutine of its own, and waits
// for it. It is for callers that must go on in any case: the library's loop,
// without which there is never a connection again, what ends a client, and all
// who log. A panic is the caller's, as if the function had been called directly.
// Goroutines that the function starts are the user's, and have no label of the
// client.
func callApart[T any](f func() (T, error)) (v T, err error) {
	done := make(chan struct{})
	var panicked any
	err = errNoReturn // it stays if f does not return
	go func() {
		pprof.SetGoroutineLabels(context.Background())
		defer close(done)
		defer func() { panicked = recover() }()
		v, err = f()
	}()
	<-done
	if panicked != nil {
		panic(panicked)
	}
	return v, err
}
