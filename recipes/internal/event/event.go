// Package event reports what happens to the object of a recipe, such as a cache or
// a persistent node. One call reports an event to the client's log and to its hooks.
// What log and hooks get is a row of a table, which the recipe has:
//
//	var (
//		eventApplied        = event.Kind{Hook: tellWritten("applied")}
//		eventOutcomeUnknown = event.Kind{Warn: "outcome of a write is unknown"}
//	)
//
//	node.events.Emit(eventOutcomeUnknown, err)
package event

import (
	"context"
	"log/slog"
	"strconv"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/semconv"
)

// Kind is a kind of event. What is empty is not told.
type Kind struct {
	Warn, Info string // the line in the log, at one of these levels
	Hook       Hook
}

// Hook calls the hooks of a client that receive one kind of event.
type Hook func(s Source)

// Call returns a Hook that makes a call of each hook.
func Call[H any](kind framework.HookKind[H], call func(H)) Hook {
	return func(s Source) {
		for _, h := range kind.Of(s.client) {
			insider.Of(s.client).Emit(func() { call(h) })
		}
	}
}

// Source is the object that events are about. The zero Source tells nobody.
type Source struct {
	client *framework.Client
	key    string // names the path in the log
	path   string
	Work   context.Context // for the log, of whose lines the handler may name the trace
}

// Of returns the source of the events of an object. An empty path is not in the
// log.
func Of(c *framework.Client, path string) Source {
	return Source{client: c, key: semconv.ZNodePath, path: path, Work: context.Background()}
}

// OfLock is Of for a lock or a leadership.
func OfLock(c *framework.Client, path string) Source {
	s := Of(c, path)
	s.key = semconv.LockPath
	return s
}

// At returns the source with another path, such as that of a node below the
// object's.
func (s Source) At(path string) Source {
	s.path = path
	return s
}

// Path returns the attribute that names the path in a line of the log.
func (s Source) Path() slog.Attr {
	return slog.String(s.key, framework.Extend(s.client).FullPath(s.path))
}

// Emit tells of an event. The cause is the error behind it, or nil. The line in
// the log has it, unless there are attributes, which the line has in its place.
// The client's emitter writes the line and calls the hooks, in the order of the events.
// So Emit may be called with a mutex held.
func (s Source) Emit(k Kind, cause error, attrs ...slog.Attr) {
	if s.client == nil {
		return
	}
	if cause != nil && len(attrs) == 0 {
		attrs = []slog.Attr{Cause(cause)}
	}
	s.log(slog.LevelWarn, k.Warn, attrs)
	s.log(slog.LevelInfo, k.Info, attrs)
	if k.Hook != nil {
		k.Hook(s)
	}
}

func (s Source) log(level slog.Level, line string, attrs []slog.Attr) {
	logger := framework.Extend(s.client).Logger()
	if line == "" || logger.Handler() == slog.DiscardHandler {
		return
	}
	if s.path != "" {
		attrs = append([]slog.Attr{s.Path()}, attrs...)
	}
	insider.Of(s.client).Emit(func() { logger.LogAttrs(s.Work, level, line, attrs...) })
}

// Cause is the attribute of a line in the log that says why something happened.
func Cause(err error) slog.Attr { return slog.Any(semconv.Cause, err) }

// Session is the attribute of a line in the log that names a session.
func Session(id int64) slog.Attr { return slog.String(semconv.SessionID, SessionText(id)) }

// SessionText returns the id of a session as ZooKeeper's own logs have it.
func SessionText(id int64) string { return "0x" + strconv.FormatUint(uint64(id), 16) }
