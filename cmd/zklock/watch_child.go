package main

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/gocurator/curator/cmd/zklock/internal/child"
	"github.com/gocurator/curator/recipes/locks"
)

// watch is the life of a command under its lease. Its loop hears of signals,
// the loss of the lock, and the command's end. It acts first and reports
// afterwards: no action waits for a terminal or a pipe.
type watch struct {
	*guarded
	p       *child.Process
	lease   *locks.Lease
	grace   time.Duration
	environ []string

	kill  <-chan time.Time // nil as long as nothing is to be killed
	cause error            // why the lock was lost, if the command still ran then
	hook  chan struct{}    // closed when the command of --on-lost has ended, or nil
}

// untilGone returns when nothing of the command is left.
func (w *watch) untilGone() error {
	exited, lost, revoked := w.p.Exited(), w.lease.Context().Done(), w.revoked(w.lease)
	for {
		select {
		case <-w.p.Gone():
			return w.outcome()
		case <-exited:
			exited, revoked = nil, nil
			w.onExit()
		case <-lost:
			lost, revoked = nil, nil
			w.onLoss()
		case <-revoked:
			revoked = nil
			w.p.Terminate()
			w.note("somebody asks for %s: sending TERM", w.path)
		case sig := <-w.signals:
			w.p.Signal(sig)
			w.stopAsked = w.stopAsked || asksToStop(sig)
			w.note("forwarding %v", sig)
		case <-w.kill:
			w.p.Kill()
			w.note("sending KILL")
		}
	}
}

// onExit ends what the command has left behind: nothing of it may outlive the
// lock. As a rule there is nothing.
func (w *watch) onExit() {
	if w.kill == nil {
		w.p.Terminate()
	}
	w.beginGrace()
}

// beginGrace begins the grace. One that has begun is not made longer: the
// margin of a loss holds one.
func (w *watch) beginGrace() {
	if w.kill == nil {
		w.kill = time.After(w.grace)
	}
}

// onLoss stops the command. The lease has ended early enough for the grace, but
// not if the whole job was stopped: then somebody else may hold the lock.
func (w *watch) onLoss() {
	select {
	case <-w.p.Exited():
	default:
		w.cause = lostCause(w.lease)
	}
	w.beginGrace()
	shell, isShell := w.stop.onLost.shell()
	switch {
	case isShell && w.grace > 0:
		w.runHook(shell)
	case isShell:
		w.p.Kill()
		fmt.Fprintln(w.err, "zklock: --on-lost: there is no time for it: sending KILL")
	case w.stop.onLost == "kill", w.p.IsStopped():
		w.p.Kill()
	default:
		w.p.Terminate()
	}
}

// runHook runs the command of --on-lost in place of TERM. It has as long as the
// guarded command: the grace. Nothing of it is left after that. If it cannot be
// started, the guarded command gets TERM.
func (w *watch) runHook(shell string) {
	w.hook = make(chan struct{})
	go func() {
		defer close(w.hook)
		w.p.BeginGrace() // before the hook, during which zklock may die
		cmd := exec.Command("/bin/sh", "-c", shell)
		// The descriptor is the guarded command's.
		environ := slices.DeleteFunc(w.environ, func(v string) bool { return strings.HasPrefix(v, "ZKLOCK_FD=") })
		cmd.Env = append(environ, fmt.Sprint("ZKLOCK_REASON=", lostCause(w.lease)), fmt.Sprint("ZKLOCK_PID=", w.p.PID()))
		cmd.Stdout, cmd.Stderr = fileOf(w.out), fileOf(w.err)
		err := child.RunFor(w.grace, cmd)
		if errors.Is(err, child.ErrNotStarted) {
			w.p.Terminate()
		}
		if err != nil {
			fmt.Fprintln(w.err, "zklock: --on-lost:", err)
		}
	}()
}

// outcome returns the status of the command, or the loss. The status counts only
// if the lock was held until nothing of the command was left.
func (w *watch) outcome() error {
	if w.hook != nil {
		<-w.hook
	}
	if w.cause != nil {
		return lostError(w.path, w.cause, "; the command was stopped")
	}
	if w.p.GuardDied() {
		return statusError{ownFailure, fmt.Errorf("%s: somebody has killed the guard, and the command with it", w.path)}
	}
	status := w.p.Status()
	ended := fmt.Sprintf("; the command had ended with status %d, perhaps after the loss", status)
	if err := w.heldToTheEnd(w.lease, ended); err != nil {
		return err
	}
	if status != 0 {
		return statusError{status: status}
	}
	return nil
}
