package locks

import (
	"fmt"
	"strings"
	"time"

	"github.com/gocurator/curator/recipes/internal/identity"
)

// Identity is what a contender's node says of its owner. Anybody may have
// written it: it is for people, and decides nothing.
//
// In the node it is a JSON object of no more than 512 bytes, such as
//
//	{"v":1,"host":"web-1","pid":4711,"service":"orders","since":"2026-01-02T15:04:05.678Z",
//	 "trace":{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}
//
// A lock that was released, and stays for its minimum hold, has the time as
// "kept" in addition, which is 34 bytes more. Java does not read it. Data in another
// form, from Java and others, is a foreign identity.
type Identity struct {
	Service string    // see framework.WithServiceName
	Host    string    // the host's name
	PID     int       // the process's id
	Since   time.Time // the time at which the owner began to wait, by its own clock

	// Trace leads to the span of the owner's acquire, in the form of the
	// propagator that package tracing was made with: for the W3C's,
	// "traceparent". Entries that cannot be printed are left out when an identity
	// is read. If they do not all fit into 512 bytes when an identity is written,
	// the node has "traceparent" alone.
	Trace map[string]string

	// Foreign is the beginning of data that has another form, such as the
	// address that Java's locks write, if it can be printed.
	Foreign string

	// KeptUntil says that the lock was released, and stays until then, by the
	// owner's clock; see ReleasePolicy. It is zero for any other node. The
	// error of a try may tell of it up to a second late: a try that is refused
	// soon after another one does not read the same holder's node again.
	KeptUntil time.Time
}

// ReadIdentity returns what the data of a node says of its owner. It takes any
// data. An identity that makes no sense is the zero value.
func ReadIdentity(data []byte) Identity { return Identity(identity.Read(data)) }

// IsZero reports whether nothing is known of the owner.
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
