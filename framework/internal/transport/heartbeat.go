package transport

import (
	"time"

	"github.com/gocurator/curator/framework/internal/proto"
)

// heartbeat sends the requests by which the leader confirms contact.
type heartbeat struct {
	*Conn
	timeout time.Duration // the session's, when the connection was established
	proofs  []proof       // oldest first; protected by link.mu
}

// confirmContact moves the time of the last contact forward when the leader has
// to confirm it (Config.LeaderConfirmed), as long as the connection lives.
//
// An answer alone proves nothing about the session. The ensemble's leader, or the next
// leader, ends the session when its time is over, and may know nothing of the answer:
//
//   - A follower answers pings and reads by itself, and continues for a while when it
//     is partitioned. The leader learns of a follower's clients only from the
//     follower's answers to the leader's own pings, which go out twice per tick.
//   - A deposed leader also continues for a while, and answers syncs alone.
//     Transactions need a majority.
//
// So the client sends beats, eight in each session timeout. A beat is a sync, followed
// by a transaction when the sync is answered. Three requests, sent one after the other,
// prove that the session will live for its timeout after the first:
//
//   - Transaction A is answered. The client's server has therefore heard from this
//     client. A majority has acknowledged A, and so has followed this leader after A
//     was sent. Any next leader needs a member of that majority, begins later, and then
//     gives every session its full timeout.
//   - Sync B is answered. Its beat begins half a tick after the answer to A, or
//     later. Messages between two servers travel in order: the leader has sent
//     a ping in between, and the follower has answered it before it passed on
//     the answer to B.
//   - Transaction C of the same beat is answered. C arrived at the leader after the
//     answer to that ping. So this leader has learned that the client was alive when A
//     was sent.
//
// An observer of a follower (ObserverMaster) is the exception: two servers pass on the
// contact, each when asked, and half a tick is enough for only one.
//
// If the client is connected to the leader itself, A is enough, and the rest does no
// harm. The client does not know the tick, but half a tick is at most a quarter of the
// session timeout T, because a server grants no timeout below two ticks, unless its
// configuration says otherwise. Each C is the A of a later beat.
//
// If every request is answered within r, B follows the answer to A by at most T/4 +
// T/8, and the answers to B and C arrive 2r later: the confirmed contact is no older
// than 3T/8 + 3r. The next contact is confirmed T/8 later. So the last contact is never
// older than T/2 + 3r, which is 0.86 T if r is 0.12 T. Beats do not wait for one
// another: if they did, r would count twice.
func (h *heartbeat) confirmContact() {
	_, h.timeout = h.link.LastContact()
	next := time.NewTicker(max(h.timeout/beatsPerTimeout, 1))
	defer next.Stop()
	for {
		h.link.goroutines.Go(h.beat)
		select {
		case <-next.C:
		case <-h.done:
			return
		}
	}
}

const beatsPerTimeout = 8

// beat ends when both of its requests are answered, or with the connection.
//
// Go's clock measures the half tick between two beats. Config.Clock may be late when a
// transaction is answered, and corrected before the next sync; the time between the two
// would then look longer than it was.
func (h *heartbeat) beat() {
	begun := time.Now() // no later than the sync is sent
	_, err := h.roundTrip(proto.OpSync, everywhere)
	if err != nil {
		return
	}
	sent, err := h.roundTrip(proto.OpMulti, proto.CheckOfRoot.Append)
	if err != nil {
		return
	}
	h.confirmed(begun, proof{sent, time.Now()})
}

// proof is a transaction that was answered.
type proof struct {
	sent     time.Time // by Config.Clock
	answered time.Time // by Go's clock
}

// confirmed records the end of a beat whose sync was sent at the given time of Go's
// clock, or later. The contact of the handshake needs only the transaction, because the
// server has asked the leader by then or is the leader.
func (h *heartbeat) confirmed(sync time.Time, p proof) {
	h.link.mu.Lock()
	defer h.link.mu.Unlock()
	h.link.contactLocked(h.connectSentAt)
	halfTick := h.timeout / 4
	for len(h.proofs) > 0 && !sync.Before(h.proofs[0].answered.Add(halfTick)) {
		h.link.contactLocked(h.proofs[0].sent)
		h.proofs = h.proofs[1:]
	}
	h.proofs = append(h.proofs, p)
}

// roundTrip sends a request and returns, when it is answered, the time at which it was
// sent. A request that the server refuses because it is too busy is sent again. The end
// of the connection is an error.
func (h *heartbeat) roundTrip(op int32, payload func([]byte) []byte) (sent time.Time, err error) {
	for {
		sent = h.link.cfg.Clock()
		h.link.mu.Lock()
		call, err := h.enqueueLocked(op, payload, nil)
		h.link.mu.Unlock()
		if err != nil {
			return sent, err
		}
		h.signal()
		<-call.Done()
		code, _, body, err := call.Answer()
		if err != nil || code == 0 && (op != proto.OpMulti || isCommitted(body)) {
			return sent, err
		}
		select {
		case <-time.After(h.timeout / 32):
		case <-h.done:
			return sent, ErrLost
		}
	}
}

// isCommitted reports whether a majority has committed the check of "/".
func isCommitted(body []byte) bool {
	a, ok := proto.CheckOfRoot.Read(body, 0)
	return ok && a.IsCommitted()
}
