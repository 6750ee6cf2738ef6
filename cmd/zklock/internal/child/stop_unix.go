//go:build unix

package child

import "syscall"

// stop is what is known when a signal has stopped the command. It decides what
// follows.
type stop struct {
	sig        syscall.Signal
	foreground bool // this program is in the foreground of its terminal
	attended   bool // a shell looks after this program's job
}

// move is what follows from a stop.
type move int

const (
	goOn       move = iota // the command goes on: with the terminal if it wants that
	pauseJob               // the whole job stops
	keepTrying             // the command goes on after a pause, to try again
	stay                   // the command stays stopped
)

// wants reports whether the command has stopped because it wants the terminal.
func (s stop) wants() bool { return s.sig == syscall.SIGTTIN || s.sig == syscall.SIGTTOU }

// first returns what follows. In the background, only a shell can give the
// command the terminal, and it does so when the job has stopped.
func (s stop) first() move {
	switch {
	case !s.wants():
		return pauseJob
	case s.foreground:
		return goOn
	case s.attended:
		return pauseJob
	}
	return keepTrying
}

// instead returns what follows if the job may not stop, because the end of the
// command has begun. Only Ctrl-Z is undone: another signal may have been sent to the
// command on purpose.
func (s stop) instead(mayNotGoOn bool) move {
	switch {
	case mayNotGoOn:
		return stay
	case s.sig == syscall.SIGTSTP:
		return goOn
	case s.wants():
		return keepTrying
	}
	return stay
}
