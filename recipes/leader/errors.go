package leader

import "errors"

// Latches and selectors return these errors and the errors of package locks. Match them
// with errors.Is. The error of an invalid value is a *framework.ConfigError and matches
// zk.ErrBadArguments.
var (
	// ErrClosed is the error of a Latch that was shut down.
	ErrClosed = errors.New("leader latch closed")

	// ErrRunning is returned by Selector.Run and Latch.Lead if the same call is already
	// running, and by Selector.Run under the context of the selector's own leadership.
	ErrRunning = errors.New("running already")

	// ErrNotLeader is returned by Resign and HandOver if the candidate does not lead.
	ErrNotLeader = errors.New("not the leader")

	// ErrNoLeader means that there is no candidate. The Leader methods of a Latch and a
	// Selector do not see each other's candidates; Now sees both.
	ErrNoLeader = errors.New("no leader")

	// ErrNoSuccessor means that there is no other candidate to hand over to.
	ErrNoSuccessor = errors.New("no successor")
)
