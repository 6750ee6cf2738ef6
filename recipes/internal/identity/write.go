package identity

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gocurator/curator/internal/hostname"
)

// Own returns the part of a process's identity that stays the same, as the
// beginning of the JSON in its nodes.
func Own(service string) string {
	if known := lastOwn.Load(); known != nil && known.service == service {
		return known.text
	}
	own := &ownText{service, ownOf(service)}
	lastOwn.Store(own)
	return own.text
}

// ownText is the result of Own for a service.
type ownText struct{ service, text string }

// lastOwn is the last result. Nearly every process is one service, and each of its
// locks has the text.
var lastOwn atomic.Pointer[ownText]

func ownOf(service string) string {
	return fmt.Sprintf(`,"host":%s,"pid":%d,"service":%s`, quoted(hostname.Get()), os.Getpid(), quoted(service))
}

// quoted returns a text as JSON. It leaves out characters that cannot be
// printed or need an escape, so that the text does not grow beyond its limit.
func quoted(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) || strings.ContainsRune(`<>&"\`, r) {
			return -1
		}
		return r
	}, s)
	return `"` + clip(s, maxName) + `"`
}

// Node returns the data of a node. It takes the result of Own, the time when
// the owner began to wait, and the entries that identify its trace. It keeps as
// many of these as there is room for. If there is nothing to say, the data is
// nil.
func Node(own string, since time.Time, trace map[string]string) []byte {
	if own == "" && len(trace) == 0 {
		return nil
	}
	b := strconv.AppendInt(append(make([]byte, 0, len(own)+roomForRest), `{"v":`...), version, 10)
	b = append(b, own...)
	if own != "" {
		b = append(since.UTC().AppendFormat(append(b, `,"since":"`...), sinceFormat), '"')
	}
	if len(trace) > 0 {
		b = appendTrace(b, trace)
	}
	return append(b, '}')
}

// Kept returns the data of a node whose lock was released, and is kept until the
// given time. It takes the data that Node has made. A trace goes if there is no
// room for it.
func Kept(data []byte, until time.Time) []byte {
	begin := strconv.AppendInt([]byte(`{"v":`), version, 10)
	rest := []byte("}")
	if len(data) > 0 {
		rest = data[len(begin):]
	}
	mark := append(until.UTC().AppendFormat([]byte(`,"kept":"`), sinceFormat), '"')
	if trace := bytes.Index(rest, []byte(`,"trace":{`)); trace >= 0 && len(begin)+len(mark)+len(rest) > maxSize {
		rest = append(bytes.Clone(rest[:trace]), '}')
	}
	return slices.Concat(begin, mark, rest)
}

// roomForRest is how long the JSON is without the identity and the trace, with
// the nine digits of a second that AppendFormat writes first.
const roomForRest = len(`{"v":1,"since":"` + sinceFormat + `000000"}`)

const sinceFormat = "2006-01-02T15:04:05.000Z"

// appendTrace appends the entries that fit. The W3C's entry comes first.
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

// appendField appends a field to the fields of an object that has begun, if the
// field has a value and there is room for it.
func appendField(begin, fields []byte, key, value string) []byte {
	if value == "" {
		return fields
	}
	longer := fields
	if len(fields) > len(begin) {
		longer = append(longer, ',')
	}
	longer = appendJSON(append(appendJSON(longer, key), ':'), value)
	if len(longer)+len(`}}`) > maxSize {
		return fields
	}
	return longer
}

// appendJSON appends a text as JSON. Usual texts need no escapes. For them,
// json.Marshal would take most of the time that an acquire spends on encoding.
func appendJSON(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			quoted, _ := json.Marshal(s) // a string never fails
			return append(b, quoted...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}
