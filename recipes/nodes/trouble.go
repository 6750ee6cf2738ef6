package nodes

import (
	"context"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/semconv"
)

// outlast waits until it is time to try again after an error. It returns the
// error if waiting does not cure it, or ctx's.
func (k *keeper) outlast(ctx context.Context, err error) error {
	if !isCurable(err) {
		return err
	}
	if reason.Is(err, framework.ErrSessionLost) {
		return nil // the next session waits for the connection
	}
	k.noteTrouble(err)
	switch {
	case reason.Is(err, framework.ErrNotConnected):
	case framework.IsConnectionError(err): // a server may be reachable and still not answer
		if err := k.outages.Wait(ctx); err != nil {
			return err
		}
	default:
		if k.warned != err.Error() {
			k.warned = err.Error()
			framework.Extend(k.client).Logger().Warn("persistent node is tried again after an error", k.logPath(k.node), semconv.Cause, err)
		}
		if err := k.trying.Wait(ctx); err != nil {
			return err
		}
	}
	return k.client.WaitConnected(ctx)
}

// The pauses after an outage.
const (
	outagePause  = 100 * time.Millisecond
	longestPause = 5 * time.Second
)

func (k *keeper) resetPauses() {
	k.warned = ""
	k.trying.Reset()
	k.outages.Reset()
}

// isCurable reports whether waiting may cure an error. Parents may be missing
// because the server deletes them when they are empty. Refused credentials end
// the node: whoever relies on it must know that it is not there.
func isCurable(err error) bool {
	switch {
	case reason.Is(err, framework.ErrClosed), reason.Is(err, zk.ErrAuthFailed), reason.Is(err, ErrConflict):
		return false
	case reason.Is(err, framework.ErrSessionLost), reason.Is(err, zk.ErrNoNode):
		return true
	default:
		return !framework.IsRefusal(err)
	}
}

// noteTrouble takes down an error for those who wait.
func (n *PersistentNode) noteTrouble(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.trouble, n.retried = err, nil
}

// noteRetry takes down an error after which a request is made again, for those
// who wait.
func (n *PersistentNode) noteRetry(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.retried = err
}

func (n *PersistentNode) logEnd(err error) {
	framework.Extend(n.client).Logger().Warn("persistent node ends", n.logPath(""), semconv.Cause, err)
}
