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

// watch is the life of a command under its lease. Its loop tells a custody what
// happens, and carries out what follows.
type watch struct {
	*guarded
	custody
	p       process
	lease   *locks.Lease
	environ []string

	kill <-chan time.Time // the end of the grace; nil before its begin
	hook chan event       // has the end of the command of --on-lost; nil if that does not run
}

func newWatch(g *guarded, p process, lease *locks.Lease, grace time.Duration, environ []string) *watch {
	c := custody{path: g.path, grace: grace, onLost: g.stop.onLost, stopAsked: g.stopAsked}
	return &watch{guarded: g, custody: c, p: p, lease: lease, environ: environ}
}

// untilGone returns when nothing of the command is left.
func (w *watch) untilGone() error {
	exited, lost, asked := w.p.Exited(), w.lease.Context().Done(), w.revoked(w.lease)
	for {
		var e event
		select {
		case <-w.p.Gone():
			return w.outcome()
		case <-exited:
			exited, asked = nil, nil
			e = event{kind: sawExit}
		case <-lost:
			lost, asked = nil, nil
			e = event{kind: sawLoss, cause: lostCause(w.lease), stopped: w.p.IsStopped()}
		case <-asked:
			asked = nil
			e = event{kind: sawRevocation}
		case sig := <-w.signals:
			e = event{kind: sawSignal, sig: sig}
		case <-w.kill:
			e = event{kind: sawGraceEnd}
		case pid := <-w.p.Refused():
			e = event{kind: sawRefusal, pid: pid}
		case e = <-w.hook:
			w.hook = nil
		}
		w.follow(e)
	}
}

// follow carries out what follows from an event.
func (w *watch) follow(e event) {
	for _, a := range w.on(e) {
		switch a.kind {
		case doForward:
			w.p.Signal(a.sig)
		case doTerminate:
			w.p.Terminate()
		case doKill:
			w.p.Kill()
		case doStartGrace:
			w.kill = time.After(a.wait)
		case doRunHook:
			w.runHook(a.shell)
		case doSay:
			fmt.Fprintln(w.err, "zklock:", a.text)
		case doNote:
			w.note("%s", a.text)
		}
	}
	w.guarded.stopAsked = w.custody.stopAsked
}

// runHook runs the command of --on-lost in place of TERM. It has as long as the
// guarded command: the grace. Nothing of it is left after that.
func (w *watch) runHook(shell string) {
	w.hook = make(chan event, 1)
	go func() {
		w.p.BeginGrace() // before the hook, during which zklock may die
		cmd := exec.Command("/bin/sh", "-c", shell)
		// The descriptor is the guarded command's.
		environ := slices.DeleteFunc(w.environ, func(v string) bool { return strings.HasPrefix(v, "ZKLOCK_FD=") })
		cmd.Env = append(environ, fmt.Sprint("ZKLOCK_REASON=", lostCause(w.lease)), fmt.Sprint("ZKLOCK_PID=", w.p.PID()))
		cmd.Stdout, cmd.Stderr = fileOf(w.out), fileOf(w.err)
		err := w.runFor(w.grace, cmd)
		w.hook <- event{kind: sawHookEnd, cause: err, started: !errors.Is(err, child.ErrNotStarted)}
	}()
}

// outcome returns the status of the command, or the loss. The status counts only
// if the lock was held until nothing of the command was left.
func (w *watch) outcome() error {
	if w.hook != nil {
		w.follow(<-w.hook)
	}
	if w.cause != nil {
		return w.lossOf(w.cause, "; the command was stopped")
	}
	if w.p.GuardDied() {
		err := fmt.Errorf("%s: somebody has killed the guard, and the command with it", w.guarded.path)
		return statusError{ownFailure, err}
	}
	status := w.p.Status()
	if cause := w.lossAtTheEnd(w.lease); cause != nil {
		return w.lossOf(cause, fmt.Sprintf("; the command had ended with status %d, perhaps after the loss", status))
	}
	if status != 0 {
		return statusError{status: status}
	}
	return nil
}
