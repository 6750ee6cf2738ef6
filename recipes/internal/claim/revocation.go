package claim

import (
	"bytes"
	"context"
)

// RevocationMarker is what Curator's Revoker writes into the node of a holder
// to ask for the lock (LockInternals.REVOKE_MESSAGE).
var RevocationMarker = []byte("__REVOKE__")

// IsRevocation reports whether a node's data asks its owner to give the lock
// up.
func IsRevocation(data []byte) bool { return bytes.Equal(data, RevocationMarker) }

// Request asks the holder to give the lock up, like a request through the
// server. That makes a revocable claim Lost.
func (c *Claim) Request() {
	c.noteRequest()
	c.Trace().Revoked() // the trace may have begun after noteRequest
	c.contextEnded()
	if place := c.placeNow(); place != nil {
		place.Asked()
	}
}

// noteRequest is the part of a request that never blocks. The tracer is told
// before the holder, whose release would be the last that it is told of.
func (c *Claim) noteRequest() {
	c.Trace().Revoked()
	if c.terms.Revocable {
		c.spare(ErrRevoked)
	}
	c.mu.Lock()
	c.asked = true
	if c.request != nil {
		c.request()
	}
	c.mu.Unlock()
	c.eachMember((*Claim).noteRequest)
	if c.terms.Revocable {
		c.end(ErrRevoked)
	}
}

// Watch begins to watch the nodes at once, instead of after a second.
func (c *Claim) Watch() { c.watcher.start() }

// Requested is closed when somebody has asked for the lock. The first call
// begins to watch the nodes for that, and also notices earlier requests.
func (c *Claim) Requested() <-chan struct{} {
	c.Watch()
	return c.requested().Done()
}

// RequestedByOthers is Requested without the calls of Request in this process.
func (c *Claim) RequestedByOthers() <-chan struct{} {
	c.Watch()
	return c.watcher.requests()
}

// IsRequested reports whether somebody has asked for the lock. The claim's place
// is told of that afterwards.
func (c *Claim) IsRequested() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asked
}

// requested returns a context whose end says that somebody asks for the lock.
// Most locks are given up before anybody waits for that.
func (c *Claim) requested() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.requests == nil {
		c.requests, c.request = context.WithCancel(context.Background())
		if c.asked {
			c.request()
		}
	}
	return c.requests
}
