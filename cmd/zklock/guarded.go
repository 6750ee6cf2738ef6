package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/cmd/zklock/internal/child"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/printable"
	"github.com/gocurator/curator/recipes/inspect"
	"github.com/gocurator/curator/recipes/locks"
)

// guarded is a command that runs under a lease.
type guarded struct {
	*env
	client  *framework.Client
	path    string
	kind    inspect.Kind
	id      string // the holder's public name, or empty for the default
	args    []string
	stop    *stopping
	signals <-chan os.Signal

	background bool // see child.Command
	stopAsked  bool // a signal has asked zklock to stop while the command ran
	started    bool // the command has been started
	afterLoss  *lossGrace

	// unanswered is the time since which no server has confirmed that the lock was held
	// to the end, or zero.
	unanswered time.Time
}

// run runs the command and returns when all its descendants have ended. A status other
// than 0 is an error without a text; a lost lock is an error with a text.
func (g *guarded) run(lease *locks.Lease) error {
	g.noteGrant(lease)
	if err := g.checkAgain(lease); err != nil {
		return err
	}
	grace := g.stop.graceOf(g.session().Timeout)
	lossFile, err := newLossFile(lease)
	if err != nil {
		return err
	}
	defer lossFile.close()
	p, err := g.start(lease, lossFile, grace)
	switch {
	case errors.Is(err, child.ErrCanceled):
		return lostError(g.path, lostCause(lease), "; the command was stopped at its start")
	case err != nil:
		return startError(g.args[0], err)
	}
	g.started = true
	return newWatch(g, p, lease, g.afterLoss.left()).untilGone()
}

// noteGrant prints with -v when the lock was acquired.
func (g *guarded) noteGrant(lease *locks.Lease) {
	at := time.Now().Format(time.RFC3339)
	g.note("acquired %s at %s, with token %d", printable.String(g.path), at, lease.FencingToken())
}

// start starts the command with the program's own standard files.
func (g *guarded) start(lease *locks.Lease, lossFile *lossFile, grace time.Duration) (process, error) {
	token := fmt.Sprint(lease.FencingToken())
	args := make([]string, len(g.args))
	for i, arg := range g.args {
		args[i] = strings.ReplaceAll(arg, "{token}", token)
	}
	g.afterLoss = graceAfter(lease.Context(), grace)
	return g.host.start(child.Command{
		Args: args, Env: g.environ(lease), Stdin: fileOf(g.in), Stdout: fileOf(g.out), Stderr: fileOf(g.err),
		Files:      []*os.File{lossFile.r},
		Ready:      func() error { return g.mayStart(lease) },
		Cancel:     g.afterLoss.over,
		Grace:      grace,
		Background: g.background,
	})
}

// mayStart returns an error if the lock was lost or a stop was requested while the
// start was prepared, because the preparation may have waited for a connection.
func (g *guarded) mayStart(lease *locks.Lease) error {
	if cause := lostCause(lease); cause != nil {
		return lostError(g.path, cause, "; the command was not started")
	}
	select {
	case sig := <-g.signals:
		g.stopAsked = true
		return statusError{status: bySignal + int(sig.(syscall.Signal))}
	default:
		return nil
	}
}

// startError gives the error of a failed start the exit status that shells use.
func startError(name string, err error) error {
	status := ownFailure
	var notStarted statusError
	switch {
	case errors.As(err, &notStarted):
		return err
	case errors.Is(err, child.ErrGuard):
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		status = notFound
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.ENOEXEC),
		errors.Is(err, exec.ErrDot):
		status = notExecuted
	}
	return statusError{status, fmt.Errorf("%s: %w", name, err)}
}

// session returns the status of the newest session, or zero if that session is over.
// After the next session has begun, the method returns the next session; the lease has
// ended by then. session does not wait for a connection, because a signal would be
// delayed meanwhile.
func (g *guarded) session() framework.SessionStatus {
	if s := framework.Extend(g.client).Status().Session; s != nil && s.Ended == nil {
		return *s
	}
	return framework.SessionStatus{}
}

// hold keeps a lock without a command, and announces the lock on standard output.
func (g *guarded) hold(lease *locks.Lease) error {
	g.noteGrant(lease)
	if err := g.checkAgain(lease); err != nil {
		return err
	}
	if cause := lostCause(lease); cause != nil { // checkAgain may have waited for a server
		return lostError(g.path, cause, "")
	}
	told := make(chan error, 1)
	go func() { told <- g.printHolding(lease) }() // the goroutine ends with the program if standard output blocks
	if err := g.untilHoldEnds(lease, told); err != nil {
		return err
	}
	if cause := g.lossAtTheEnd(lease); cause != nil {
		return lostError(g.path, cause, "")
	}
	return nil
}

// untilHoldEnds returns when the lock need not be held any longer, or when the announcement
// has failed. A blocked standard output does not delay the end of the hold by more than a
// moment.
//
// If the end of standard input has no meaning, the hold ends with the parent of zklock,
// so a killed script leaves no lock behind. A parent that is the first process of a
// system or a container never ends before zklock.
func (g *guarded) untilHoldEnds(lease *locks.Lease, told <-chan error) error {
	var inputEnd, orphaned <-chan struct{}
	switch {
	case g.tells(g.in):
		inputEnd = endOf(g.in)
	case g.parent > 1:
		orphaned = g.ended(g.parent)
	}
	loss, revoked := lease.Context().Done(), lease.Revoked()
	var late <-chan time.Time
	for {
		select {
		case err := <-told:
			if err != nil || late != nil {
				return err
			}
			told = nil
			continue
		case <-late:
			return nil
		case <-g.signals:
			g.stopAsked = true
		case <-inputEnd:
		case <-orphaned:
			fmt.Fprintf(g.err, "zklock: %s: process %d has ended, and the hold with it\n", printable.String(g.path), g.parent)
		case <-revoked:
		case <-loss:
		}
		if told == nil || late != nil {
			return nil
		}
		late = time.After(lastWords)
		inputEnd, orphaned, loss, revoked = nil, nil, nil, nil
	}
}

// endOf returns a channel that is closed at the end of an input.
func endOf(in io.Reader) <-chan struct{} {
	if f, ok := in.(*os.File); ok {
		in = entire{f}
	}
	end := make(chan struct{})
	// The goroutine ends with the program: a read cannot be cancelled, and the file's
	// owner may continue to use the file.
	go func() {
		defer close(end)
		_, _ = io.Copy(io.Discard, in)
	}()
	return end
}

// linger keeps the lock for the rest of --at-least, until a signal or a revocation. A signal
// that arrived while the command ran also ends the wait.
func (g *guarded) linger(lease *locks.Lease, rest time.Duration) {
	if rest <= 0 || g.stopAsked {
		return
	}
	t := time.NewTimer(rest)
	defer t.Stop()
	select {
	case <-t.C:
	case <-g.signals:
	case <-lease.Revoked():
	case <-lease.Context().Done():
	}
}

// lostCause returns why a lease was lost, or nil if it is held.
func lostCause(lease *locks.Lease) error {
	if lease.Context().Err() == nil {
		return nil
	}
	return context.Cause(lease.Context())
}

// lostError is the error of a lock that was lost.
func lostError(path string, cause error, consequence string) error {
	return statusError{lost, fmt.Errorf("lost %s: %w%s", path, cause, consequence)}
}

// answerPatience is how long the program waits for each of two answers at the end:
// whether the lock was held, and the release.
const answerPatience = 5 * time.Second

// lossAtTheEnd returns nil if the lock was held until now, and the cause of a loss
// otherwise. lossAtTheEnd asks the server, because the lease may not yet reflect a
// loss. A holder watches its node only after a second, and learns of the session's end only
// with the next connection. If no server answers, the session
// is not over, and the lock counts as held.
func (g *guarded) lossAtTheEnd(lease *locks.Lease) error {
	cause := lostCause(lease)
	if cause == nil {
		begin := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), answerPatience)
		defer cancel()
		var err error
		if cause, err = g.lossByServer(ctx, lease); err != nil {
			g.unanswered = begin
			fmt.Fprintf(g.err, "zklock: no server has confirmed that %s was held to the end: %v\n", g.path, err)
		}
	}
	return cause
}

// lossByServer asks the servers' leader whether the lock is held, because another
// server may be behind. It returns the cause of a loss, or nil. It waits for the answer
// until ctx or the lease ends.
func (g *guarded) lossByServer(ctx context.Context, lease *locks.Lease) (cause, err error) {
	ctx, cancel := lease.WithContext(ctx)
	defer cancel()
	err = throughOutages(ctx, g.client, func() error {
		_, err := g.client.Transaction(ctx, lease.Checks()...)
		return err
	})
	switch {
	case err == nil:
		return nil, nil
	case lostCause(lease) != nil:
		return lostCause(lease), nil
	case errors.Is(err, zk.ErrNoNode):
		return locks.ErrNodeDeleted, nil
	}
	return nil, err
}
