package recipes

import "time"

// leaderConfig is what LeaderLatch and LeaderSelector have beside what locks have.
type leaderConfig struct {
	grace   time.Duration
	overrun time.Duration
	requeue func(error) bool
	set     bool // any of them
}

// defaultOverrun is long enough for work that looks at its context between two steps.
const defaultOverrun = 10 * time.Second

// WithID names a candidate of a LeaderLatch or LeaderSelector to all who ask for the leader or the participants: it is the
// data of its nodes, and what Java's Participant.getId returns there. By default a candidate is called by its service, host
// and process.
//
// WithID switches identity and trace links off: the id takes their place in the node. Participant.Identity does not know the
// candidate then, package tracing calls it "unknown", and nothing leads to its trace.
func WithID(id string) LockOption { return WithNodeData([]byte(id)) }

// WithGrace lets a leader who is asked to step down, by Revoke, go on for d, to finish what it is doing. The work is told
// by Lease.Revoked, and may end earlier by itself; when d is over, the leadership's context ends with ErrRevoked. By
// default that happens at once.
func WithGrace(d time.Duration) LockOption {
	return func(c *lockConfig) {
		c.leader.grace, c.leader.set = d, true
		if d < 0 {
			c.invalid = "grace must not be negative"
		}
	}
}

// WithRequeue makes a LeaderSelector stand again after its leadership, as long as again says so. It is told what the
// term has come to: nil, the work's error, or both that and the reason of the leadership's loss, to be tested with
// errors.Is. If it returns false, LeaderSelector.Run returns that error. After a term that has come to an error there is a
// pause of a second, in which others may lead.
func WithRequeue(again func(err error) bool) LockOption {
	return func(c *lockConfig) {
		c.leader.requeue, c.leader.set = again, true
		if again == nil {
			c.invalid = "requeue function is nil"
		}
	}
}

// WithOverrunReport sets how long the work of a LeaderSelector may go on after its leadership's context has ended before
// that is reported, by a line of the client's logger and to its Tracer. The default is 10 seconds.
func WithOverrunReport(d time.Duration) LockOption {
	return func(c *lockConfig) {
		c.leader.overrun, c.leader.set = d, true
		if d <= 0 {
			c.invalid = "time until an overrun is reported must be positive"
		}
	}
}

func forLatches(c *lockConfig) {
	c.recipe = RecipeLeaderLatch
	c.forLeaders()
	if c.leader.requeue != nil || c.leader.overrun != 0 {
		c.invalid = "WithRequeue and WithOverrunReport are for a LeaderSelector"
	}
}

func forSelectors(c *lockConfig) {
	c.recipe = RecipeLeaderSelector
	c.forLeaders()
	if c.leader.overrun == 0 {
		c.leader.overrun = defaultOverrun
	}
}

func (c *lockConfig) forLeaders() {
	c.refuseSharedLimit()
	c.refuseHandOver()
	if c.revocable || c.queueLimit != 0 {
		c.invalid = "Revocable and WithQueueLimit are for locks: a leader steps down when asked to, and a candidate waits"
	}
}

func (c *lockConfig) refuseLeader() {
	if c.leader.set {
		c.invalid = "WithGrace, WithRequeue and WithOverrunReport are for a LeaderLatch or LeaderSelector"
	}
}
