// Package identity encodes what the nodes of locks and leaders say of their
// owners: host, process, service and trace, in JSON. It also reads data of any
// other form, since every client may have written a node.
package identity

import (
	"encoding/json"
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/gocurator/curator/internal/printable"
	"github.com/gocurator/curator/recipes/internal/lockloop"
)

// Identity has the fields of locks.Identity. They are documented there.
type Identity struct {
	Service string
	Host    string
	PID     int
	Since   time.Time
	Trace   map[string]string
	Foreign string

	KeptUntil time.Time
}

const (
	version        = 1
	maxSize        = 512 // bytes of JSON
	maxName        = 100 // bytes of the host, and of the service
	maxTraceFields = 8
)

// inNode is the JSON form of an Identity in a node.
type inNode struct {
	V       int               `json:"v"`
	Host    string            `json:"host"`
	PID     int               `json:"pid"`
	Service string            `json:"service"`
	Since   time.Time         `json:"since"`
	Trace   map[string]string `json:"trace"`
	Kept    time.Time         `json:"kept"`
}

// Read returns what the data of a node says of its owner. Data of any other
// form is a foreign identity, or none.
func Read(data []byte) Identity {
	var j inNode
	if len(data) > lockloop.MaxData || json.Unmarshal(data, &j) != nil || j.V != version {
		return Identity{Foreign: InALine(clip(string(data[:min(len(data), maxSize)]), maxName))}
	}
	return Identity{
		Service: InALine(clip(j.Service, maxName)),
		Host:    InALine(clip(j.Host, maxName)),
		PID:     max(j.PID, 0),
		Since:   j.Since,
		Trace:   printableTrace(j.Trace),

		KeptUntil: j.Kept,
	}
}

// InALine returns the text if it can be printed in a line. Otherwise it returns
// the empty string.
func InALine(s string) string {
	if !printable.Is(s) {
		return ""
	}
	return s
}

// printableTrace returns the entries of a trace that can be printed, as far as
// there is room for them. The W3C's entry comes first.
func printableTrace(read map[string]string) map[string]string {
	var trace map[string]string
	size := 0
	for _, key := range traceKeys(read) {
		value := read[key]
		longer := size + len(key) + len(value)
		if len(trace) == maxTraceFields || longer > maxSize || !printable.Is(key) || !printable.Is(value) {
			continue
		}
		if trace == nil {
			trace = make(map[string]string, min(len(read), maxTraceFields))
		}
		trace[key], size = value, longer
	}
	return trace
}

// traceKeys returns the keys in the order in which they get room.
func traceKeys(trace map[string]string) []string {
	const first = "traceparent"
	keys := slices.Sorted(maps.Keys(trace))
	if i := slices.Index(keys, first); i > 0 {
		keys = slices.Insert(slices.Delete(keys, i, i+1), 0, first)
	}
	return keys
}

// clip returns the longest beginning of a text that has no more than n bytes
// and ends with a whole character.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
