package locks

import (
	"fmt"
	"time"

	"github.com/gocurator/curator/recipes/internal/seat"
)

// ReleasePolicy says what a release does with the node that holds the lock. The zero
// value deletes the node at once. Every other policy makes other clients wait longer:
//
//	field        use it if                               other clients wait longer
//	-----------  --------------------------------------  -----------------------------
//	HandOver     many goroutines of one client want the  for HandOver, and for the hold
//	             lock at the same time                   that is under way at its end
//	Idle         one client uses the lock again and      for an event and a deletion
//	             again, and other clients seldom do
//	MinimumHold  a short job must run once in a fleet    for the rest of MinimumHold
//
// For example:
//
//	locks.ReleasePolicy{MaxReuses: 100, HandOver: time.Second}
//	locks.ReleasePolicy{MaxReuses: 1000, Idle: time.Minute}
//	locks.ReleasePolicy{MinimumHold: 50 * time.Second}
//
// A release follows the policy of the object on which its lease was acquired. The next
// acquire can use any object of the client whose nodes would be the same: see
// InterProcessMutex.
//
// # Reuse
//
// HandOver and Idle can be set together. MaxReuses counts the reuses of both.
//
// A lease that reuses a node has the fencing token of the previous lease, and the node
// still names the first holder. The earlier holder has released the lock, so a guarded
// resource can confuse the two only if a write of the earlier holder is late.
//
// The client deletes an idle node as soon as another contender queues, or only tries. The
// try itself fails. A process keeps at most 1,000 idle nodes: at that limit, a release
// deletes its node. A release also deletes the node if there is no connection, or if the
// client had to wait for the lock and this is the first release since. The first release
// that keeps the node costs one more request, which sets a watch on the queue.
// Participants, package inspect and zklock show an idle lock as held. If the server
// refuses to delete an idle node, the client logs the refusal, and the node stays until
// the session ends.
//
// With an InterProcessReadWriteLock, Idle keeps the node that the readers of the client
// share, until the queue changes in any way. The release of a writer deletes its node.
// MaxReuses counts the acquires that find the lock idle, not the readers that join
// others. Idle also makes joining cheaper: readers join without a request until the watch
// on the queue fires, instead of for 100 ms. If the connection fails silently, readers
// can join until the client notices, within the session timeout.
//
// # Minimum hold
//
// A release before the end of MinimumHold ends the lease's context, writes into the node
// how long the lock stays (see Identity.KeptUntil), and returns. In an outage, the
// release writes nothing, but the lock stays all the same. Until the end of MinimumHold,
// the lock is held for every process, for every object of this client, and for acquires
// under the context of the old lease. With WithNodeData, the data is not changed. A
// holder that had nothing to do can release the lock sooner: it calls Revoke for its own
// node, waits for Lease.Revoked, and releases.
//
// # Session loss, revocation and Close
//
//   - If the lock is lost, its policy has no effect: the client deletes the node. If the
//     process crashes, the servers delete the node after the session timeout.
//   - If the session ends after the release, the idle time and the minimum hold end with
//     it. No hook and no log line reports that.
//   - If the connection is suspended under state.StandardPolicy, the client deletes an
//     idle node. A minimum hold continues if the lock was already released.
//   - A Revoke ends the idle time and the minimum hold, and so does an operator who
//     deletes the node. After the client has noticed a Revoke, a release does not hand the
//     lock over. The client notices a Revoke at most a second after the grant.
//   - framework.Client.Close deletes an idle node. It leaves the node of a minimum hold
//     and the session to the servers, and deletes the client's other ephemeral nodes one
//     by one, which takes longer if there are thousands. The servers end the session after
//     its timeout, counted from Close or, if Close reaches no server, from the last
//     request. So a lock stays for less than MinimumHold if the session timeout is shorter
//     than the rest, and for longer if the timeout is longer. The same is true if Close
//     comes before the release. A process that needs all of a long MinimumHold should call
//     Close later.
//
// # Invalid combinations
//
// In each of these cases, every acquire returns a *framework.ConfigError that matches
// zk.ErrBadArguments:
//
//   - A field is negative.
//   - MaxReuses is set without HandOver and Idle, or one of them without MaxReuses. There
//     is no value for "without limit", because all reuses share one fencing token.
//   - MinimumHold is set together with HandOver or Idle. A minimum hold keeps this
//     client's goroutines out, and a reuse lets them in.
//   - HandOver or MinimumHold is set for a read/write lock. A writer that has taken the
//     read lock leaves a reader behind, for which the client's next writer must wait. The
//     readers that share a node got the lock at different times.
//   - An InterProcessMultiLock has a mutex with MinimumHold. An attempt that does not get
//     all the locks would keep some of them.
type ReleasePolicy struct {
	// MaxReuses is how many acquires in a row can get the lock without a request to the
	// server. The last release deletes the node, and the client queues behind the other
	// contenders.
	MaxReuses int

	// HandOver is for how long releases pass the lock to the client's next waiting
	// goroutine, even if other clients wait. The time begins when the client gets the
	// lock. Goroutines get the lock in the order of their arrival.
	HandOver time.Duration

	// Idle is for how long the client keeps the node of a lock that no goroutine holds,
	// while no other contender queues. The client's next acquire takes microseconds. An
	// acquire at the very end of the time can shorten the next one.
	Idle time.Duration

	// MinimumHold is for how long the lock stays held after its grant, even if its holder
	// releases it sooner. A release after that time deletes the node at once.
	MinimumHold time.Duration
}

// WithReleasePolicy sets what a release does with the node that holds the lock: the
// client can use the node again, or the lock stays held for some time. A later
// WithReleasePolicy replaces an earlier one.
func WithReleasePolicy(p ReleasePolicy) interface {
	MutexOption
	ReadWriteOption
} {
	return releasePolicy(p)
}

type releasePolicy ReleasePolicy

func (p releasePolicy) applyToMutex(c *seat.Options) {
	c.Policy = seat.Policy(p)
	reuses := p.HandOver > 0 || p.Idle > 0
	switch {
	case p.MaxReuses < 0 || min(p.HandOver, p.Idle, p.MinimumHold) < 0:
		c.Fault = p.refused("no field may be negative")
	case reuses != (p.MaxReuses > 0):
		c.Fault = p.refused("MaxReuses needs HandOver or Idle, and each of them needs MaxReuses")
	case reuses && p.MinimumHold > 0:
		c.Fault = p.refused("MinimumHold contradicts HandOver and Idle")
	}
}

func (p releasePolicy) applyToReadWrite(c *seat.Options) {
	p.applyToMutex(c)
	if p.HandOver > 0 || p.MinimumHold > 0 {
		c.Fault = p.refused("a read/write lock has neither HandOver nor MinimumHold")
	}
}

func (p releasePolicy) refused(reason string) error {
	return seat.Invalid("release policy", fmt.Sprintf("%+v", p), reason)
}
