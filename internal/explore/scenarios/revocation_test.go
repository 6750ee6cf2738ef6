package scenarios

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/recipes/locks"
)

// wish is a lock that some hold for long, and others ask for.
type wish struct {
	world  *explore.World
	inside *explore.Section
	asked  map[string]bool // for which nodes somebody may have asked
	told   map[string]bool // for which nodes that was told as done
}

func newWish(w *explore.World) *wish {
	w.Node("/lock", "")
	return &wish{w, w.Section("the lock", 1), map[string]bool{}, map[string]bool{}}
}

// works holds the lock until somebody asks for it, or for half a minute. It has
// to hear of each request that was told as done.
func (q *wish) works(a *explore.Actor, lease *locks.Lease) {
	leave := q.inside.Enter(a, lease.Context(), lease.FencingToken())
	pass(lease.Context(), 30*time.Second)
	cause := context.Cause(lease.Context())
	if cause == nil && q.told[lease.Path()] {
		q.world.Fail("%s does not hear that somebody has asked for the lock", a.Name())
	}
	if errors.Is(cause, locks.ErrRevoked) {
		if !q.asked[lease.Path()] {
			q.world.Fail("%s believes that somebody has asked for the lock", a.Name())
		}
	} else {
		checkLoss(q.world, a, lease)
		leave()
	}
	give(q.world, a, lease)
}

// asks asks the holder once, if there is one.
func (q *wish) asks(a *explore.Actor, lock *locks.InterProcessMutex) {
	var all []locks.Participant
	_ = a.Call("look", func(ctx context.Context) (err error) {
		all, err = lock.Participants(ctx)
		return err
	})
	if len(all) == 0 {
		return
	}
	q.revokes(a, all[0].Path)
}

func (q *wish) revokes(a *explore.Actor, node string) {
	q.asked[node] = true
	if revoke(a, node) == nil {
		q.told[node] = true
	}
}

// revoke asks for a lock, whose holder has that node.
func revoke(a *explore.Actor, node string) error {
	return a.Call("revoke", func(ctx context.Context) error { return locks.Revoke(ctx, a.Client(), node) })
}

func (q *wish) contender(a *explore.Actor) {
	lock := locks.NewInterProcessMutex(a.Client(), "/lock", locks.WithRevocation())
	q.asks(a, lock)
	if lease, _ := take(q.world, a, "acquire", lock.Acquire); lease != nil {
		q.works(a, lease)
	}
}

func TestRevocationOfTwo(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		q := newWish(w)
		w.Actor("A", q.contender)
		w.Actor("B", q.contender)
	}, quick())
}
