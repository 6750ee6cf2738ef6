// Package claim implements claims to nodes that were admitted: from the grant
// until the nodes are deleted, or belong to the next claim.
//
// A [Claim] is held by shares. The acquire that won it has the first; each
// acquire under the context of one of its leases re-enters, and has another.
// The release of the last share gives the claim up. A [Lease] is one share, or
// the shares of several claims that were taken together.
//
// Several holders may have the same nodes side by side, such as readers. Each has a
// claim, which is a [Claim.Member] of one that has no shares: that one is Lost when
// the nodes are, and makes them Lost. A member that is given up before the last is
// HandedOver, or Released if it was Lost. The claim that they are members of is
// Released when the last leaves.
//
// # States
//
// A claim is in one of six states. A mutex guards the state; every transition
// goes through [Claim.become], which knows the edges of this diagram.
//
//	              Lose: session, watcher, leader
//	  Held ───────────────────────────────────────▶ Lost
//	   │                                             │  │
//	   │ last share released; Stop, Dissolve         │  │ Keep: leader
//	   ▼                                             │  ▼
//	Releasing ──────────────▶ HandedOver             │ Kept
//	   │    PassOn: a goroutine                      │
//	   │    of this process waits                    │ last share released,
//	   │                                             │ or Dissolve
//	   └───────────────────▶ Released ◀──────────────┘
//
// These cause the transitions:
//
//   - To Held: [New], for admitted nodes of a session that is trusted. The
//     nodes are watched after a second, or at once if somebody asks for that.
//   - To Lost: the end of the session or, by the client's error policy, its
//     suspension; the deletion of a node by somebody else; a request for a
//     revocable lock; the end of a leader's time of grace. The holder may still
//     work, so the nodes stay until the last share is released. If the client is
//     closed within the safety margin, they stay with the session.
//   - To Releasing: the release of the last share, or a leader whose work is
//     done or who is closed; the end of a claim that is idle.
//   - From Releasing to HandedOver: a goroutine of this process waits for the
//     lock, which its options let pass on, and nobody has asked for it. Or the
//     lock is cached, for one that comes later. Until then the successor is Held
//     without a share: it is idle. Or the lock stays for the rest of its
//     minimum hold, and no goroutine gets it.
//   - From Releasing to Released: the server has answered the deletion, or the
//     client goes on with it by itself.
//   - From Lost to Kept: a leader stands again with the node of a leadership
//     that suspension has ended.
//   - From Lost to Released: the release of the last share, or at once if the
//     claim is idle. The client deletes the nodes in the background. Dissolve
//     waits for the deletion if somebody has asked for the lock, or the session
//     lives. The next session of the client may be there before the holder has
//     stopped: a leader calls Dissolve when the work has stopped, or has had the
//     safety margin for that. The release of its lease only says that it has
//     stopped: see [Claim.Lead].
//
// The table says what becomes of the rest in each state. "The place" is the
// claim's place among the goroutines of its process. The last column says what
// the tracer and the log are told.
//
//	state       context           nodes               the place  told
//	----------  ----------------  ------------------  ---------  ------------
//	Held        alive             exist               taken      of the hold
//	Lost        ends, with cause  stay                freed      of the loss
//	Releasing   ends, released    stay                taken
//	HandedOver  ended             the successor's     passed on  of a release
//	Kept        ended             the next claim's
//	Released    ended             are being deleted,  freed      of a release,
//	                              or are gone                    if not lost
//
// HandedOver, Kept and Released are final. If the claim is a member, or has members,
// other holders or a successor may have the nodes and the place when it is Released.
//
// # The context ends first
//
// A claim's context ends with the first cause, and that decides: the session
// ends the contexts of all its claims before it tells one of them, so the state
// follows. A claim that is Held may have lost its context just now. Code that
// acts on a claim asks the context first, and then changes the state to match.
//
// So each of these races has one outcome:
//
//   - A release and a loss: the first of them is the cause. A release that
//     comes after the loss returns the loss.
//   - A release and a leader that sees the end of the lease's context: the
//     release deletes the nodes, and gets the server's answer. Dissolve waits
//     for it.
//   - The session ends, or somebody deletes a node, while the claim is handed
//     over. Before there is a successor, there will be none: the waiter gets
//     the place in the process and queues by itself, and the nodes are deleted
//     as in every release. After that, the successor is a claim of its own,
//     which becomes Lost.
//   - Somebody asks for the lock while it is handed over: the same, except that
//     a successor is asked, and not lost.
package claim
