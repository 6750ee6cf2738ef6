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

// Hook calls those hooks of a client that hear of one kind of event.
type Hook func(s Source)

// Call returns a Hook that makes a call of each hook.
func Call[H any](kind framework.HookKind[H], call func(H)) Hook {
	return func(s Source) {
		for _, h := range kind.Of(s.client) {
			s.Post(func() { call(h) })
		}
	}
}

// Source is the object that events are about. The zero Source tells nobody.
type Source struct {
	client *framework.Client
	key    string // names the path in the log
	path   string
	teller insider.Teller // nil for a client without hooks
}

// Of returns the source of the events of an object. An empty path is not in the
// log. The hooks are called one after the other, in the order of the events. A
// hook that blocks holds up nobody but the later calls of this object.
func Of(c *framework.Client, path string) Source {
	if c == nil {
		return Source{}
	}
	return Source{client: c, key: semconv.ZNodePath, path: path, teller: insider.Of(c).NewTeller()}
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
// Emit does not wait for the log's handler, nor for a hook.
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
	if line == "" {
		return
	}
	if s.path != "" {
		attrs = append([]slog.Attr{s.Path()}, attrs...)
	}
	framework.Extend(s.client).Logger().LogAttrs(context.Background(), level, line, attrs...)
}

// Post makes a call of a hook behind those before it. For a client without hooks,
// it makes none.
func (s Source) Post(call func()) {
	if s.teller != nil {
		s.teller.Post(call)
	}
}

// Cause is the attribute of a line in the log that says why something happened.
func Cause(err error) slog.Attr { return slog.Any(semconv.Cause, err) }

// Session is the attribute of a line in the log that names a session.
func Session(id int64) slog.Attr { return slog.String(semconv.SessionID, SessionText(id)) }

// SessionText returns the id of a session as ZooKeeper's own logs have it.
func SessionText(id int64) string { return "0x" + strconv.FormatUint(uint64(id), 16) }
