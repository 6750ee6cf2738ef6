package framework_test

import (
	"context"
	"log/slog"
	"sync"

	"github.com/gocurator/curator/framework"
)

// journal is a log that a test can read.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }
func (j *journal) WithAttrs([]slog.Attr) slog.Handler               { return j }
func (j *journal) WithGroup(string) slog.Handler                    { return j }

func (j *journal) Handle(_ context.Context, r slog.Record) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	line := r.Message
	r.Attrs(func(a slog.Attr) bool { line += " " + a.String(); return true })
	j.lines = append(j.lines, line)
	return nil
}

// warnings returns the lines so far.
func (j *journal) warnings() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]string(nil), j.lines...)
}

func (j *journal) option() framework.Option { return framework.WithLogger(slog.New(j)) }
