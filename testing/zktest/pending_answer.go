package zktest

import "github.com/gocurator/curator/testing/zktest/internal/wire"

// awaitHistoryLocked makes the answer wait if the member has something to apply
// first.
func (x *exchange) awaitHistoryLocked(out *wire.Encoder, code wire.Code) bool {
	if x.awaitZxid <= x.srv.zxid {
		return false
	}
	x.pending = &pendingAnswer{out: out, code: code, over: make(chan struct{})}
	return true
}

// answerAppliedLocked queues an answer that has waited long enough.
func (x *exchange) answerAppliedLocked() {
	u := x.pending
	if u.more = !x.conn.closed; x.conn.receivesLocked() {
		answer := u.frame
		if u.out != nil {
			answer = x.replyLocked(u.out, u.code)
		}
		u.more, u.answered = x.finishLocked(u.faults, answer)
	}
	close(u.over)
}

// abandonLocked ends the wait for an answer that will never come.
func (x *exchange) abandonLocked() {
	x.pending.more = !x.conn.closed
	close(x.pending.over)
}
