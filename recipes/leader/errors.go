package leader

import "errors"

// Latches and selectors return these errors, and package locks' errors. Match
// them with errors.Is. A value that cannot be used is a *framework.ConfigError
// and matches zk.ErrBadArguments.
var (
	// ErrClosed is the error of a Latch that was shut down.
	ErrClosed = errors.New("leader latch closed")

	// ErrRunning is the error of Selector.Run and of Latch.Lead while it runs
	// already, and of Run under the leadership that it asks for.
	ErrRunning = errors.New("running already")

	// ErrNotLeader is the error of Resign and HandOver if the candidate does not
	// lead.
	ErrNotLeader = errors.New("not the leader")

	// ErrNoLeader means that there is no candidate. Leader of a Latch does not see the
	// candidates of a Selector at its path, nor the other way round; Now sees both.
	ErrNoLeader = errors.New("no leader")

	// ErrNoSuccessor means that there is no other candidate to hand over to.
	ErrNoSuccessor = errors.New("no successor")
)
