package recipes

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gocurator/curator/internal/printable"
	"github.com/gocurator/curator/recipes/internal/lockloop"
)

// Identity is what a contender's node says of its owner. Anybody may have written it: it is for people, and decides
// nothing.
//
// In the node it is a JSON object of no more than 512 bytes, such as
//
//	{"v":1,"host":"web-1","pid":4711,"service":"orders","since":"2026-01-02T15:04:05.678Z",
//	 "trace":{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}
//
// Java does not read it. What Java and others write is a foreign identity.
type Identity struct {
	Service string    // see framework.WithServiceName
	Host    string    // its name
	PID     int       // of the process
	Since   time.Time // when the owner began to wait, by its own clock

	// Trace leads to the span of the owner's acquire, in the words of the propagator that package tracing was made with:
	// for the W3C's, "traceparent". What is read from a node has no more than 8 entries, and no more than 512 bytes, and
	// nothing that cannot be printed: other entries are left out.
	Trace map[string]string

	// Foreign is the beginning of data that has another form, such as the address that Java's locks write, if it can be
	// printed.
	Foreign string
}

// IsZero reports whether nothing is known: there is no data, or none that makes sense.
func (id Identity) IsZero() bool {
	return id.Service == "" && id.Host == "" && id.PID == 0 && id.Since.IsZero() && len(id.Trace) == 0 && id.Foreign == ""
}

// String returns the likes of "orders@web-1/4711". A foreign identity is "unknown".
func (id Identity) String() string {
	var b strings.Builder
	b.WriteString(id.Service)
	if id.Host != "" {
		if id.Service != "" {
			b.WriteByte('@')
		}
		b.WriteString(id.Host)
	}
	if id.PID != 0 {
		fmt.Fprintf(&b, "/%d", id.PID)
	}
	if b.Len() == 0 {
		return "unknown"
	}
	return b.String()
}

const (
	identityVersion = 1
	maxIdentity     = 512 // bytes of JSON
	maxIdentityName = 100 // bytes of the host and of the service
	maxForeignData  = lockloop.MaxData
	maxTraceFields  = 8
)

// identityJSON is an Identity in a node.
type identityJSON struct {
	V       int               `json:"v"`
	Host    string            `json:"host"`
	PID     int               `json:"pid"`
	Service string            `json:"service"`
	Since   time.Time         `json:"since"`
	Trace   map[string]string `json:"trace"`
}

// ReadIdentity returns what the data of a node says of its owner. It takes whatever it gets: what is no identity is a
// foreign one, or the zero value.
func ReadIdentity(data []byte) Identity {
	var j identityJSON
	if len(data) > maxForeignData || json.Unmarshal(data, &j) != nil || j.V != identityVersion {
		return Identity{Foreign: inALine(clip(string(data[:min(len(data), maxIdentity)]), maxIdentityName))}
	}
	return Identity{
		Service: inALine(clip(j.Service, maxIdentityName)),
		Host:    inALine(clip(j.Host, maxIdentityName)),
		PID:     max(j.PID, 0),
		Since:   j.Since,
		Trace:   printableTrace(j.Trace),
	}
}

// inALine returns text that fits into a line, or nothing if it does not.
func inALine(s string) string {
	if !printable.Is(s) {
		return ""
	}
	return s
}

// printableTrace returns the entries of a trace that can be printed, the W3C's first, as far as there is room for them.
func printableTrace(read map[string]string) map[string]string {
	var trace map[string]string
	size := 0
	for _, key := range traceKeys(read) {
		value := read[key]
		longer := size + len(key) + len(value)
		if len(trace) == maxTraceFields || longer > maxIdentity || !printable.Is(key) || !printable.Is(value) {
			continue
		}
		if trace == nil {
			trace = make(map[string]string, min(len(read), maxTraceFields))
		}
		trace[key], size = value, longer
	}
	return trace
}

// traceKeys returns the keys in the order in which they get room: the W3C's first.
func traceKeys(trace map[string]string) []string {
	const first = "traceparent"
	keys := slices.Sorted(maps.Keys(trace))
	if i := slices.Index(keys, first); i > 0 {
		keys = slices.Insert(slices.Delete(keys, i, i+1), 0, first)
	}
	return keys
}

// clip returns as much of a text as has no more than n bytes.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// ownIdentity is the part of our nodes' data that stays the same: JSON without the end. It is empty if the nodes say
// nothing of us.
func ownIdentity(service string) string {
	return fmt.Sprintf(`,"host":%s,"pid":%d,"service":%s`, quoted(hostname()), os.Getpid(), quoted(service))
}

var hostname = sync.OnceValue(func() string {
	host, err := os.Hostname()
	if err != nil {
		return ""
	}
	return host
})

// quoted returns a text as JSON. What cannot be printed is left out, so that it does not grow beyond what it may have.
func quoted(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) || strings.ContainsRune(`<>&"\`, r) {
			return -1
		}
		return r
	}, s)
	return `"` + clip(s, maxIdentityName) + `"`
}

// nodeIdentity returns the data of a node: who we are, and what leads to our trace, as far as there is room for it. It is
// nil if neither is to be told.
func nodeIdentity(own string, since time.Time, trace map[string]string) []byte {
	if own == "" && len(trace) == 0 {
		return nil
	}
	b := strconv.AppendInt(append(make([]byte, 0, 256), `{"v":`...), identityVersion, 10)
	b = append(b, own...)
	if own != "" {
		b = append(since.UTC().AppendFormat(append(b, `,"since":"`...), sinceFormat), '"')
	}
	if len(trace) > 0 {
		b = appendTrace(b, trace)
	}
	return append(b, '}')
}

const sinceFormat = "2006-01-02T15:04:05.000Z"

// appendTrace appends the entries that fit, of which the W3C's is the first.
func appendTrace(b []byte, trace map[string]string) []byte {
	const traceparent = "traceparent"
	begin := append(b, `,"trace":{`...)
	fields := appendField(begin, begin, traceparent, trace[traceparent])
	if len(trace) > 1 || len(fields) == len(begin) {
		for _, key := range slices.Sorted(maps.Keys(trace)) {
			if key != traceparent {
				fields = appendField(begin, fields, key, trace[key])
			}
		}
	}
	if len(fields) == len(begin) {
		return b
	}
	return append(fields, '}')
}

// appendField appends a field to those of an object that has begun, if it has a value and there is room for it.
func appendField(begin, fields []byte, key, value string) []byte {
	if value == "" {
		return fields
	}
	longer := fields
	if len(fields) > len(begin) {
		longer = append(longer, ',')
	}
	longer = appendJSON(append(appendJSON(longer, key), ':'), value)
	if len(longer)+len(`}}`) > maxIdentity {
		return fields
	}
	return longer
}

// appendJSON appends a text. Those that are expected need no escapes, for which json.Marshal takes its time.
func appendJSON(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			quoted, _ := json.Marshal(s) // a text never fails
			return append(b, quoted...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}
