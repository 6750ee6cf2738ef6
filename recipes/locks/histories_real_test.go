//go:build real

package locks_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/histories"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/atomic"
	"github.com/gocurator/curator/recipes/fence"
	"github.com/gocurator/curator/recipes/locks"
)

// fenced is a register that refuses old tokens.
type fenced struct {
	guard fence.Guard
	mu    sync.Mutex
	value string
}

func (f *fenced) write(token int64, value string) (accepted bool) {
	err := f.guard.Do(token, func() error {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.value = value
		return nil
	})
	return !errors.Is(err, fence.ErrStale)
}

func (f *fenced) read() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.value
}

// chronicle is what clients of a lock, and of what it protects, were told.
type chronicle struct {
	lock, data histories.History
	register   fenced
	mu         sync.Mutex
	held       int // how often somebody has had the lock
}

// hold acquires the lock, works under it, and releases it. An acquire that fails
// has changed nothing for others.
func (c *chronicle) hold(ctx context.Context, client, round int, lock locks.Locker, read bool) {
	acquire := c.lock.Begin(client)
	lease, err := lock.Acquire(ctx)
	if err != nil {
		return
	}
	c.mu.Lock()
	c.held++
	c.mu.Unlock()
	token := lease.FencingToken()
	acquire.End(histories.Acquired{Token: token, Read: read}, nil)
	end := c.lock.Begin(client) // the lease may be lost from now on
	c.work(lease, client, round, read)
	if lease.Context().Err() == nil {
		end = c.lock.Begin(client)
	}
	_ = lease.Release(ctx)
	end.End(histories.Ended{Token: token, Read: read}, nil)
}

func (c *chronicle) work(lease *locks.Lease, client, round int, read bool) {
	call := c.data.Begin(client)
	if read {
		call.End(histories.Read{}, c.register.read())
		return
	}
	value := fmt.Sprintf("%d of %d", round, client)
	call.End(histories.Write{Token: lease.FencingToken(), Value: value}, histories.Done(c.register.write(lease.FencingToken(), value)))
}

// chronicled is a lock whose clients are listened to.
type chronicled struct {
	name  string
	model porcupine.Model
	of    func(c *framework.Client, path string, round int) (lock locks.Locker, read bool)
	chronicle
}

func chronicledLocks() []*chronicled {
	return []*chronicled{
		{name: "mutex", model: histories.Mutex, of: func(c *framework.Client, path string, _ int) (locks.Locker, bool) {
			return locks.NewInterProcessMutex(c, path), false
		}},
		{name: "read/write lock", model: histories.ReadWriteLock, of: func(c *framework.Client, path string, round int) (locks.Locker, bool) {
			rw := locks.NewInterProcessReadWriteLock(c, path)
			if round%2 == 0 {
				return rw.ReadLock(), true
			}
			return rw.WriteLock(), false
		}},
		{name: "semaphore", model: histories.Semaphore(2), of: func(c *framework.Client, path string, _ int) (locks.Locker, bool) {
			return locks.NewInterProcessSemaphore(c, path, locks.Limit(2)), false
		}},
	}
}

// What the clients of a real ensemble were told has an order in which all of it
// is right, while its members are restarted.
func TestRealEnsembleHistories(t *testing.T) {
	const clients, rounds = 4, 6
	w, e := newEnsembleWorld(t)
	ctx, path := w.Patience(t), recipetest.Path(t)
	all, kinds := sync.WaitGroup{}, chronicledLocks()
	var numbers histories.History
	for client := range clients {
		c, _ := w.Connect(t)
		number := atomic.NewLong(c, path+"/number")
		all.Go(func() {
			for range rounds {
				count(ctx, t, &numbers, client, number)
			}
		})
		for i, kind := range kinds {
			all.Go(func() {
				for round := range rounds {
					lock, read := kind.of(c, fmt.Sprintf("%s/%d", path, i), round+client)
					kind.hold(ctx, client, round, lock, read)
				}
			})
		}
	}
	for _, m := range e.Members() {
		require.NoError(t, m.Restart())
		_, err := e.WaitLeader(ctx)
		require.NoError(t, err)
	}
	all.Wait()
	for _, kind := range kinds {
		require.Equal(t, clients*rounds, kind.held, kind.name)
		require.NoError(t, kind.lock.Check(kind.model), kind.name)
	}
	require.NoError(t, kinds[0].data.Check(histories.FencedRegister))
	require.NoError(t, numbers.Check(histories.Value[int64](0)))
}

// count adds one to a number. Each addition has a part in the history: there is
// time enough, so that none is refused.
func count(ctx context.Context, t *testing.T, h *histories.History, client int, number *atomic.Long) {
	call, one := h.Begin(client), histories.Add(1)
	switch now, err := number.Add(ctx, 1); {
	case err == nil:
		call.End(one, now)
	case errors.Is(err, framework.ErrOutcomeUnknown):
		call.Open(one)
	default:
		t.Errorf("client %d: %v", client, err)
	}
}
