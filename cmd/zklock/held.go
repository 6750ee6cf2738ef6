package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/recipes/locks"
)

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

// answerPatience is how long the program waits for a server in the end: for the
// answer whether the lock was held, and for that to the release.
const answerPatience = 5 * time.Second

// lossAtTheEnd returns nil if the lock was held until now, and the cause of a loss
// otherwise. It asks the server, because the lease may have been lost without a
// word: a holder watches its node after a second only, and a session that the
// servers have ended is known with the next connection. If no server answers, the
// session is not over, and the lock counts as held.
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

// lossByServer asks the server whether the lock is held, and returns the cause
// of the loss if it is not. It waits for the answer until ctx or the lease
// ends. The leader of the servers answers: another server may be behind.
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
