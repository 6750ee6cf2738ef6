// Package connstate is the state machine of package state: it decides which transitions
// of the connection state listeners see, and in which order. It is pure: it uses no
// clock, no I/O and no goroutine. Package state's documentation has the diagram.
package connstate

import "github.com/gocurator/curator/state"

// Input is an event in the life of the client's connection or session.
type Input struct {
	kind    inputKind
	session int64
}

type inputKind int

const (
	disconnected inputKind = iota
	expired
	established
)

// Disconnected is the input for a broken connection or a failed attempt to connect.
func Disconnected() Input { return Input{kind: disconnected} }

// Expired is the input for a session that is over: a server has ended it, or its time
// is up.
func Expired() Input { return Input{kind: expired} }

// Established is the input after a server has accepted the client in a new or resumed
// session with this id.
func Established(session int64) Input { return Input{kind: established, session: session} }

// Machine turns inputs into the transitions that listeners see. The zero Machine is in
// state Initial and ready to use. A Machine is not safe for concurrent use.
type Machine struct {
	cur       state.State
	session   int64 // from the last Established; meaningless in Initial and Lost
	connected bool  // Connected has been entered once
}

// Current returns the state after the last input.
func (m *Machine) Current() state.State { return m.cur }

// HasConnected reports whether there was ever a session.
func (m *Machine) HasConnected() bool { return m.connected }

// Apply takes one input and returns the states entered, in order: none, one, or
// Lost followed by Reconnected.
func (m *Machine) Apply(in Input) []state.State {
	switch in.kind {
	case disconnected:
		return m.disconnect()
	case expired:
		return m.enter(state.Lost)
	default:
		return m.establish(in.session)
	}
}

func (m *Machine) disconnect() []state.State {
	// The state stays Lost until there is another session. Suspended would mean that
	// the session may still live.
	if m.cur == state.Lost {
		return nil
	}
	return m.enter(state.Suspended)
}

func (m *Machine) establish(session int64) []state.State {
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
