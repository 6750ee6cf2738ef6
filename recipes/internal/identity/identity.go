// Package identity encodes what the nodes of locks and leaders say about their owners:
// host, process, service and trace, in JSON. It also reads data of any other form,
// because any client may have written a node.
package identity

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"strings"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gocurator/curator/internal/hostname"
	"github.com/gocurator/curator/internal/printable"
	"github.com/gocurator/curator/recipes/internal/order"
)

// Identity has the fields of locks.Identity. They are documented there.
type Identity struct {
	Service string            `json:"service"`
	Host    string            `json:"host"`
	PID     int               `json:"pid"`
	Since   time.Time         `json:"since"`
	Trace   map[string]string `json:"trace"`
	Foreign string            `json:"-"`

	KeptUntil time.Time `json:"kept"`
}

const (
	version = 1
	begin   = `{"v":1` // the beginning of a node's data

	maxSize = 512 // bytes of JSON
	maxName = 100 // bytes of the host, and of the service
)

// inNode is the JSON form of an Identity in a node.
type inNode struct {
	V int `json:"v"`
	Identity
}

// Read returns what a node's data says about the owner. Data of another form is a foreign
// identity, or gives the zero Identity.
func Read(data []byte) Identity {
	var j inNode
	if len(data) > order.MaxData || json.Unmarshal(data, &j) != nil || j.V != version {
		return Identity{Foreign: InALine(clip(string(data[:min(len(data), maxSize)]), maxName))}
	}
	maps.DeleteFunc(j.Trace, func(key, value string) bool { return !printable.Is(key) || !printable.Is(value) })
	j.Service, j.Host, j.PID = InALine(clip(j.Service, maxName)), InALine(clip(j.Host, maxName)), max(j.PID, 0)
	return j.Identity
}

// InALine returns the text if it can be printed in a line. Otherwise it returns the empty
// string.
func InALine(s string) string {
	if !printable.Is(s) {
		return ""
	}
	return s
}

// clip returns the longest prefix of s that has at most n bytes and ends with a whole
// character.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Own returns the constant part of this process's identity, as the beginning of the JSON
// in its nodes.
func Own(service string) string {
	if known := lastOwn.Load(); known != nil && known.service == service {
		return known.text
	}
	own := &ownText{service,
		fmt.Sprintf(`,"host":%s,"pid":%d,"service":%s`, quoted(hostname.Get()), os.Getpid(), quoted(service))}
	lastOwn.Store(own)
	return own.text
}

// ownText is the result of Own for a service.
type ownText struct{ service, text string }

// lastOwn caches the last result. Nearly every process is one service, so all its locks
// have the same text.
var lastOwn atomic.Pointer[ownText]

// quoted returns a text as JSON. It leaves out characters that cannot be printed or need
// an escape, so that the text does not exceed its limit.
func quoted(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) || strings.ContainsRune(`<>&"\`, r) {
			return -1
		}
		return r
	}, s)
	return `"` + clip(s, maxName) + `"`
}

// Node returns the data of a node. Its arguments are the result of Own, the time when the
// owner began to wait, and the entries that identify the trace. Without an identity and a
// trace, the data is nil.
func Node(own string, since time.Time, trace map[string]string) []byte {
	if own == "" && len(trace) == 0 {
		return nil
	}
	b := append(append(make([]byte, 0, len(own)+roomForRest), begin...), own...)
	if own != "" {
		b = append(since.UTC().AppendFormat(append(b, `,"since":"`...), sinceFormat), '"')
	}
	if len(trace) > 0 {
		b = appendTrace(b, trace)
	}
	return append(b, '}')
}

// Kept returns the data of a node whose lock was released and is kept until the given
// time. The argument data is the result of Node.
func Kept(data []byte, until time.Time) []byte {
	rest := cmp.Or(strings.TrimPrefix(string(data), begin), "}")
	return []byte(begin + `,"kept":"` + until.UTC().Format(sinceFormat) + `"` + rest)
}

// roomForRest is the length of the JSON without the identity and the trace, with the nine
// digits of a second that AppendFormat writes first.
const roomForRest = len(`{"v":1,"since":"` + sinceFormat + `000000"}`)

const sinceFormat = "2006-01-02T15:04:05.000Z"

// appendTrace appends the entries of a trace if there is room for all of them, and
// otherwise only the W3C entry.
func appendTrace(b []byte, trace map[string]string) []byte {
	const name, parent = `,"trace":`, "traceparent"
	room := maxSize - len(b) - len(name) - len("}")
	encoded, _ := json.Marshal(trace) // encoding strings never fails
	if len(encoded) > room {
		encoded, _ = json.Marshal(map[string]string{parent: trace[parent]})
		if trace[parent] == "" || len(encoded) > room {
			return b
		}
	}
	return append(append(b, name...), encoded...)
}
