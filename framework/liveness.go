package framework

// WithStrictContact makes the session end in time even when servers are cut off
// from each other, or die.
//
// By default every answer counts as contact: the session is given up nine
// tenths of its timeout after the last request was sent that any server
// answered. That is too late in three cases:
//
//   - A follower that is cut off from its leader goes on answering pings and
//     reads by itself, for up to the ensemble's syncLimit times tickTime (ten
//     seconds is common). The leader, which alone decides, may have ended the
//     session by then, and given its locks away.
//   - A leader that is cut off from its followers goes on for that long and a
//     tick longer. The followers may have another leader by then, which may
//     have ended the session.
//   - A follower answers a ping and dies before it has told its leader. The
//     leader counts from the ping before that, a third of the timeout earlier.
//     If the client reaches no other server, it is too late by up to a third of
//     the timeout less the safety margin: 3.5 seconds of 15. A margin of 0.4 is
//     enough against this case; see WithSafetyMargin.
//
// Strict contact counts only contact that a leader has confirmed while a
// majority followed it. The client asks for that eight times in each session
// timeout, with a sync and a transaction. The session is then given up before
// its nodes are given away, whichever servers are cut off from each other or
// die, as long as:
//
//   - The leader's tick is no longer than half the session timeout. Servers
//     grant no less, unless they are told to.
//   - The client's server is a voter, or an observer of the leader itself. An
//     observer that follows a follower (observerMasterPort) tells that follower
//     of its clients, and the leader hears of them later than assumed here.
//   - The clock of this process is slower than theirs by no more than the
//     safety margin.
//   - This process is not stopped. Only a fencing token protects from that; see
//     locks.Lease.FencingToken.
//
// Under strict contact, a try of a lock that looks at the queue first waits for a
// SyncQuorum, which costs a write: a leader that is cut off misleads no try.
//
// The price is the requests, and sessions that are lost sooner. The transaction
// checks that there is a node "/" and changes nothing, but the servers write it
// to their logs like every other. The last confirmed contact is up to half a
// session timeout and three round trips of a write old. So a session is lost:
//
//   - in an outage of two fifths of its timeout, which without strict contact
//     may last nine tenths of it;
//   - on servers that take more than an eighth of the timeout for each write.
//
// WithSafetyMargin takes its part of that, and may be no more than a quarter.
func WithStrictContact() Option {
	return func(c *config) { c.strictContact = true }
}
