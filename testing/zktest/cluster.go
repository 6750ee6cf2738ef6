package zktest

// cluster is what the members of an ensemble share. A standalone server has one
// for itself.
type cluster struct {
	refuser
	cfg   config
	alone *Server   // the standalone server, nil for an ensemble; constant
	ens   *Ensemble // nil for a standalone server; constant

	// The monitor guards the rest, everything in Server that is not said to be
	// constant, and the marked fields of conn, session and Member.
	monitor
	alarms
	sessionTable
	epoch      int64 // how many leaders there were; 0 for a standalone server
	accepted   int64 // connections so far
	handshakes int64 // connections that have made themselves known
	rules      rules
	sim        *simulation // nil without a ChaosPlan
}

func newCluster(cfg config) *cluster {
	return &cluster{cfg: cfg, sessionTable: newSessionTable(cfg)}
}

// stopClocksLocked keeps everything from happening by itself, for ever.
func (c *cluster) stopClocksLocked() {
	c.closing = true
	for _, sess := range c.sessions {
		sess.expiry.stop()
	}
	if c.sim != nil {
		c.sim.stopLocked()
	}
}
