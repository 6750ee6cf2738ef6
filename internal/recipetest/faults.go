package recipetest

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/testing/zktest"
)

// Faults returns the faults that a request may meet before the caller's context ends.
// The session is the caller's.
func Faults(w *World, session int64) map[string]zktest.Action {
	expire := zktest.Call(func(zktest.Request) { go w.Fake.Session(session).Expire() })
	return map[string]zktest.Action{
		"not answered in time":    zktest.DelayReply(time.Second),
		"not processed in time":   zktest.DelayRequest(time.Second),
		"request lost for good":   zktest.Blackhole(),
		"reply lost for good":     zktest.BlackholeReply(),
		"request lost, then late": zktest.DropRequest(),
		"reply lost, then late":   zktest.DropReply(),
		"session lost before":     zktest.All(expire, zktest.DropRequest()),
		"session lost after":      zktest.All(zktest.DropReply(), expire),
	}
}

// Within returns a context that ends after d.
func Within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), d)
	t.Cleanup(cancel)
	return ctx
}

// Log is a log for tests in real time.
type Log struct {
	mu  sync.Mutex // protects the following field
	buf strings.Builder
}

// Write adds to the log.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

// String returns the log.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}
