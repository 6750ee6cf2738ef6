package locks

import (
	"fmt"
	"strings"
	"time"

	"github.com/gocurator/curator/recipes/internal/identity"
)

// Identity is what a contender's node says about its owner. It is meant for people and
// must not decide anything, because any client may have written it.
//
// In the node it is a JSON object of no more than 512 bytes, such as
//
//	{"v":1,"host":"web-1","pid":4711,"service":"orders","since":"2026-01-02T15:04:05.678Z",
//	 "trace":{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}
//
// If a lock was released and stays for its minimum hold, the object also has the member
// "kept" with the end of that time, which is 34 bytes more. Java does not read it. Data
// in another form, from Java and other clients, is a foreign identity.
type Identity struct {
	Service string    // see framework.WithServiceName
	Host    string    // the name of the host
	PID     int       // the id of the process
	Since   time.Time // when the owner began to wait, by its own clock

	// Trace leads to the span of the owner's acquire, in the form of the propagator that
	// package tracing uses: for the W3C propagator, "traceparent". Reading an identity
	// drops entries that cannot be printed. If the entries do not all fit into 512 bytes,
	// the node has only "traceparent".
	Trace map[string]string

	// Foreign is the beginning of data in another form, for example the address that
	// Java's locks write. It is empty if the data cannot be printed.
	Foreign string

	// KeptUntil is set if the lock was released and stays until that time, by the owner's
	// clock; see ReleasePolicy. It is zero for any other node. In the error of a try, it
	// may appear up to a second late: a try that fails soon after another one does not
	// read the same holder's node again.
	KeptUntil time.Time
}

// ReadIdentity returns the identity in the data of a node. It accepts any data. If the
// identity is malformed, the result is the zero value.
func ReadIdentity(data []byte) Identity { return Identity(identity.Read(data)) }

// IsZero reports whether the owner is unknown.
func (id Identity) IsZero() bool {
	return id.Service == "" && id.Host == "" && id.PID == 0 && id.Since.IsZero() && len(id.Trace) == 0 && id.Foreign == ""
}

// String returns a text such as "orders@web-1/4711". A foreign identity is
// "unknown".
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
