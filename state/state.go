package state

import (
	"fmt"
)

// State is the state of a client's connection and session, as far as the client
// can know it.
type State int

const (
	// Initial is the zero State: the client has not connected yet. No
	// transition leads back to it.
	Initial State = iota

	// Connected means that the client has its first session. It happens once in
	// the life of a client. Every later connection is Reconnected.
	Connected

	// Suspended means that the connection is down and the session may or may
	// not survive. Ephemeral nodes and watches still exist on the server for
	// now. It ends in Reconnected, with the same session, or in Lost.
	Suspended

	// Reconnected means that the client has a connection again. The session is
	// the same if the state before was Suspended, and a new one if it was Lost.
	Reconnected

	// Lost means that the session is over, or that the server may end it at any
	// moment. Every ephemeral node and every watch of that session must be
	// considered gone. A new session follows in Reconnected.
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

// IsConnected reports whether the client has a connection and a session in this
// state.
func (s State) IsConnected() bool {
	return s == Connected || s == Reconnected
}

// ErrorPolicy decides which states end work that relies on the session, such as
// a held lock or a leadership.
type ErrorPolicy int

const (
	// SessionPolicy trusts the session until it is Lost. It is the default: the
	// client declares Lost before the server can give an ephemeral node away,
	// so a short interruption need not stop any work.
	SessionPolicy ErrorPolicy = iota

	// StandardPolicy stops trusting the session in Suspended already. It is
	// Curator's default. Use it for work that must not go on for a moment
	// without a connection.
	StandardPolicy
)

// IsError reports whether work that relies on the session must stop in state s.
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
