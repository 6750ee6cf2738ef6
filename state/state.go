package state

import "fmt"

// State is what a client may believe about its connection and its session.
type State int

const (
	// Initial is the zero State: the client has not connected yet. Nothing leads back to it.
	Initial State = iota

	// Connected means that the client has its first session. It happens once in the life of a client;
	// every later return is Reconnected.
	Connected

	// Suspended means that the connection is down and the session may or may not survive. Ephemeral nodes and
	// watches still exist on the server for now. It ends in Reconnected, with the same session, or in Lost.
	Suspended

	// Reconnected means that the client has a connection again: in the same session if Suspended came before it,
	// in a new one if Lost did.
	Reconnected

	// Lost means that the session is over, or that the server may end it at any moment: every ephemeral node and
	// every watch of that session must be considered gone. A new session follows in Reconnected.
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

// IsConnected reports whether the client has a connection and a session in this state.
func (s State) IsConnected() bool {
	return s == Connected || s == Reconnected
}
