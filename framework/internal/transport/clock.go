package transport

import "time"

// clock remembers which requests of one connection wait for their reply, and when each was handed over for sending.
//
// The server counts a session's timeout from the arrival of a request. An answered request has arrived, and not before
// it was sent, so the session lives at least until its send time plus the timeout. Auth requests are the exception: they
// do not count.
type clock struct {
	waiting []sentRequest // oldest first
	head    int           // waiting[:head] are answered
}

type sentRequest struct {
	request
	at time.Time
}

func (c *clock) sent(r request, at time.Time) {
	if c.head > 64 && c.head*2 > len(c.waiting) { // keep the queue's memory in proportion to what waits
		n := copy(c.waiting, c.waiting[c.head:])
		clear(c.waiting[n:])
		c.waiting, c.head = c.waiting[:n], 0
	}
	c.waiting = append(c.waiting, sentRequest{r, at})
}

// answered takes the oldest waiting request with this xid. Replies come in the order of the requests, except that
// servers answer auth requests ahead of others.
func (c *clock) answered(xid int32) (sentRequest, bool) {
	for i := c.head; i < len(c.waiting); i++ {
		r := c.waiting[i]
		if r.xid != xid {
			continue
		}
		copy(c.waiting[c.head+1:i+1], c.waiting[c.head:i])
		c.waiting[c.head] = sentRequest{}
		c.head++
		return r, true
	}
	return sentRequest{}, false
}
