package framework

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/gocurator/curator/framework/internal/teller"
	"github.com/gocurator/curator/internal/semconv"
)

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
