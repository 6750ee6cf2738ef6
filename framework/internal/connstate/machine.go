// Package connstate is the state machine of package state: it decides which transitions
// of the connection state listeners see, and in which order. It is pure: it uses no
// clock, no I/O and no goroutine. Package state's documentation has the diagram.
package connstate

import "github.com/gocurator/curator/state"

// Machine turns events in the life of the client's connection or session into the
// transitions that listeners see. The zero Machine is in state Initial and ready to use. A
// Machine is not safe for concurrent use.
type Machine struct {
	cur       state.State
	session   int64 // from the last Established; meaningless in Initial and Lost
	connected bool  // Connected has been entered once
}

// HasConnected reports whether there was ever a session.
func (m *Machine) HasConnected() bool { return m.connected }

// Disconnected takes a broken connection or a failed attempt to connect, and returns the
// states entered, in order. The state stays Lost until there is another session: Suspended
// would mean that the session may still live.
func (m *Machine) Disconnected() []state.State {
	if m.cur == state.Lost {
		return nil
	}
	return m.enter(state.Suspended)
}

// Expired takes the end of a session, because a server has ended it or its time is up, and
// returns the states entered.
func (m *Machine) Expired() []state.State { return m.enter(state.Lost) }

// Established takes the acceptance by a server in a new or resumed session with this id,
// and returns the states entered: none, one, or Lost followed by Reconnected.
func (m *Machine) Established(session int64) []state.State {
	replaced := m.connected && m.cur != state.Lost && session != m.session
	m.session = session
	switch {
	case !m.connected:
		m.connected = true
		return m.enter(state.Connected)
	case replaced:
		return append(m.enter(state.Lost), m.enter(state.Reconnected)...)
	case m.cur.IsConnected():
		return nil
	default:
		return m.enter(state.Reconnected)
	}
}

func (m *Machine) enter(s state.State) []state.State {
	if m.cur == s {
		return nil
	}
	m.cur = s
	return []state.State{s}
}
