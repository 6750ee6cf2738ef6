package framework

// WithStrictContact makes the session end in time even when the server is cut off from the rest of its ensemble.
//
// By default every answer counts as contact: the session is given up nine tenths of its timeout after the last request
// was sent that any server answered. That is too late in one case. A follower answers pings and reads by itself, and
// goes on doing so after it was cut off from its leader, for up to the ensemble's syncLimit times tickTime (ten seconds
// is common). The leader, which alone decides, may have ended the session by then, and given its locks away.
//
// Strict contact counts only what the leader has confirmed, by two sync requests in each quarter of the session timeout.
// The session is then given up before the leader can end it, whichever servers are cut off from each other, as long as
// the leader's tick is no longer than half the session timeout (servers grant no less, unless told to), clocks run at
// about the same rate, and this process is not stopped. Only a fencing token protects from the latter; see package
// recipes. The price is the requests, and less patience: the last confirmed contact is up to half a session timeout old,
// so that sessions are lost in outages of two fifths of it, where nine tenths would do otherwise. WithSafetyMargin takes
// its part of that, and may be no more than a quarter.
func WithStrictContact() Option {
	return func(c *config) { c.strictContact = true }
}

// WithMaxRequestSize sets the length in bytes up to which requests are sent. Servers cut the connection at requests
// longer than their jute.maxbuffer, which is the default here, 1,048,575; set both or neither.
func WithMaxRequestSize(n int) Option {
	return func(c *config) { c.maxRequest = n }
}

const (
	defaultMaxRequest = 0xfffff // jute.maxbuffer's default
	minMaxRequest     = 1 << 10
	maxStrictMargin   = 0.25
)
