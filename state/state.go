package state

import (
	"fmt"
)

// State is the state of a client's connection and session, as far as the client knows it.
type State int

const (
	// Initial is the zero State: the client has not connected yet. A client never returns
	// to it.
	Initial State = iota

	// Connected means that the client has its first session. A client enters this state
	// once; every later connection is Reconnected.
	Connected

	// Suspended means that the connection is down and the session may or may not survive.
	// For now, the server still has the session's ephemeral nodes and watches. The next
	// state is Reconnected, with the same session, or Lost.
	Suspended

	// Reconnected means that the client is connected again. After Suspended the session
	// is the same; after Lost it is a new session.
	Reconnected

	// Lost means that the session is over, or that the server may end it at any moment.
	// Treat every ephemeral node and every watch of the session as gone. A new session
	// follows with Reconnected.
	Lost
)

var names = [...]string{"Initial", "Connected", "Suspended", "Reconnected", "Lost"}

// String returns the state's name.
func (s State) String() string {
	if s < 0 || int(s) >= len(names) {
		return fmt.Sprintf("State(%d)", int(s))
	}
	return names[s]
}

// IsConnected reports whether the client has a connection and a session in state s.
func (s State) IsConnected() bool {
	return s == Connected || s == Reconnected
}

// ErrorPolicy decides which states end work that depends on the session, such as a held
// lock or a leadership.
type ErrorPolicy int

const (
	// SessionPolicy trusts the session until it is Lost. It is the default: the client
	// declares Lost before the server can give an ephemeral node to another client, so a
	// short interruption need not stop any work.
	SessionPolicy ErrorPolicy = iota

	// StandardPolicy stops trusting the session as soon as the client is Suspended. It is
	// Curator's default. Use it for work that must stop whenever the connection is down.
	StandardPolicy
)

// IsError reports whether work that depends on the session must stop in state s.
func (p ErrorPolicy) IsError(s State) bool {
	return s == Lost || p == StandardPolicy && s == Suspended
}

// String returns the policy's name.
func (p ErrorPolicy) String() string {
	if p == StandardPolicy {
		return "StandardPolicy"
	}
	return "SessionPolicy"
}
