// Package event reports what happens to the object of a recipe, such as a cache or a
// persistent node. One call reports an event to the client's log and to its hooks. Each
// recipe has a table of its events, with what the log and the hooks receive:
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
	"github.com/gocurator/curator/internal/hooks"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/semconv"
)

// Kind is a kind of event. Empty fields are not reported.
type Kind struct {
	Warn, Info string // the log line, at one of these levels
	Hook       Hook
}

// Hook calls the client's hooks for one kind of event.
type Hook func(s Source)

// Call returns a Hook that calls each hook of the kind.
func Call[H any](kind framework.HookKind[H], call func(H)) Hook {
	return func(s Source) {
		for _, h := range kind.Of(s.client) {
			insider.Of(s.client).Emit(func() { call(h) })
		}
	}
}

// Source is the object of events. The zero Source reports nothing.
type Source struct {
	client *framework.Client
	key    string // the name of the path attribute in log lines
	path   string
	Work   context.Context // the context for log lines, from which a handler may take the trace
}

// Of returns the source of the events of an object. An empty path is left out of the log
// lines.
func Of(c *framework.Client, path string) Source {
	return Source{client: c, key: semconv.ZNodePath, path: path, Work: context.Background()}
}

// OfLock is Of for a lock or a leadership.
func OfLock(c *framework.Client, path string) Source {
	s := Of(c, path)
	s.key = semconv.LockPath
	return s
}

// At returns the source with another path, such as the path of a node below the object's
// node.
func (s Source) At(path string) Source {
	s.path = path
	return s
}

// Path returns the attribute with the path for a log line.
func (s Source) Path() slog.Attr {
	return slog.String(s.key, framework.Extend(s.client).FullPath(s.path))
}

// Emit reports an event. The cause is the error that led to it, or nil. The log line has
// the attributes or, if there are none, the cause. The client's emitter writes the line
// and calls the hooks, in the order of the events. Emit may therefore be called with a
// mutex held.
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
	if line == "" || !IsLogged(s.client) {
		return
	}
	if s.path != "" {
		attrs = append([]slog.Attr{s.Path()}, attrs...)
	}
	Call(hookLine, func(h hooks.HookLine) {
		h.Line(hooks.Line{Context: s.Work, Level: level, Text: line, Attrs: attrs})
	})(s)
}

var hookLine = framework.NewHookKind[hooks.HookLine]()

// IsLogged reports whether the client has a log.
func IsLogged(c *framework.Client) bool { return len(hookLine.Of(c)) > 0 }

// Cause returns the attribute of a log line that says why something happened.
func Cause(err error) slog.Attr { return slog.Any(semconv.Cause, err) }

// Session returns the attribute of a log line that names a session.
func Session(id int64) slog.Attr { return slog.String(semconv.SessionID, SessionText(id)) }

// SessionText returns the id of a session as ZooKeeper's logs print it.
func SessionText(id int64) string { return "0x" + strconv.FormatUint(uint64(id), 16) }
