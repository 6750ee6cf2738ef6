package framework

import (
	"time"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/internal/reason"
)

// outage is a time without a connection, from the first attempt that failed.
// The log has one line for an outage that lasts: state changes alone do not say
// why no server can be reached.
type outage struct {
	since    time.Time // zero while there is a connection, or no attempt has failed
	reported bool
}

// attempted notes how an attempt to connect has ended. It returns how long the
// outage has lasted when that is longer than a time and has not been reported,
// else 0. A server that refuses the credentials has been reached, and refusal
// tells the log of that.
func (o *outage) attempted(err error, reportAfter time.Duration) (lasted time.Duration) {
	var auth *transport.AuthError
	switch {
	case err == nil:
		*o = outage{}
	case reason.As(err, &auth):
	case o.since.IsZero():
		o.since = time.Now()
	case !o.reported && time.Since(o.since) >= reportAfter:
		o.reported = true
		return time.Since(o.since)
	}
	return 0
}
