package migratelock_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-migrate/migrate/v4"
	"github.com/golang-migrate/migrate/v4/database"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/contrib/migrate/migratelock"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

func TestReplicasMigrateOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		b := newBase(false)
		results := make(chan error, 3)
		for range 3 {
			r := newReplica(t, srv, b, func(string) { time.Sleep(time.Second) })
			go func() {
				if err := r.open(bounded(t)); err != nil {
					results <- err
					return
				}
				results <- r.up(t)
			}()
		}
		require.NoError(t, <-results)
		require.ErrorIs(t, <-results, migrate.ErrNoChange)
		require.ErrorIs(t, <-results, migrate.ErrNoChange)
		version, applied := b.now()
		require.Equal(t, "3", version)
		require.Equal(t, []int{1, 2, 3}, applied)
		require.Empty(t, srv.Children(path))
	})
}

// loss is what becomes of two replicas, the first of which loses its lock.
type loss struct {
	after string // the call of the first one's driver after which it is lost
	late  bool   // the first one goes on when the second one is done, not when that has the lock
}

// play returns what Up returns of both replicas. The second one
// waits for the first one's lock.
func (l loss) play(t *testing.T, b *base) (lost, next error) {
	t.Helper()
	srv := zktest.Start(t)
	opened, done := make(chan struct{}), make(chan struct{})
	var first *replica
	first = newReplica(t, srv, b, func(call string) {
		if call != l.after {
			return
		}
		first.host.Isolate()
		if <-opened; l.late {
			<-done
		}
	})
	t.Cleanup(func() { first.host.Heal() })
	first.mustOpen(t)
	second := newReplica(t, srv, b, nil)
	go func() {
		defer close(done)
		next = second.open(bounded(t))
		close(opened)
		if next == nil {
			next = second.up(t)
		}
	}()
	lost = first.up(t)
	<-done
	return lost, next
}

func TestLossStopsBetweenTwoSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBase(false)
		lost, next := loss{after: "2"}.play(t, b)
		require.NoError(t, next, "it goes on")
		var e *migratelock.LostError
		require.ErrorAs(t, lost, &e)
		require.Equal(t, 3, e.Version)
		require.False(t, e.Begun)
		require.ErrorIs(t, lost, framework.ErrSessionLost)
		require.ErrorContains(t, lost, "the migration to version 3 was not begun, because the lock was lost: ")
		version, applied := b.now()
		require.Equal(t, "3", version)
		require.Equal(t, []int{1, 2, 3}, applied)
	})
}

// A version that was dirty when the second one looks would be an error.
func TestLossLeavesACleanVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		b := newBase(false)
		var r *replica
		r = newReplica(t, srv, b, func(c string) {
			if c == "2" {
				r.lose()
			}
		})
		r.mustOpen(t)
		m := r.migrate(t)
		require.ErrorIs(t, m.Up(), framework.ErrSessionLost)
		version, applied := b.now()
		require.Equal(t, "2", version)
		require.Equal(t, []int{1, 2}, applied)

		r.host.Heal()
		require.NoError(t, r.client.WaitConnected(bounded(t)))
		require.NoError(t, m.Up(), "the same Migrate goes on, with the lock")
		version, applied = b.now()
		require.Equal(t, "3", version)
		require.Equal(t, []int{1, 2, 3}, applied)
	})
}

// A step that has begun ends. The driver's own lock holds up the next replica.
func TestStepThatHasBegunEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBase(true)
		lost, next := loss{after: "2 dirty"}.play(t, b)
		var e *migratelock.LostError
		require.ErrorAs(t, lost, &e)
		require.Equal(t, 3, e.Version)
		require.NoError(t, next)
		_, applied := b.now()
		require.Equal(t, []int{1, 2, 3}, applied)
	})
}

func TestNextReplicaFindsAStepOfADriverWithoutALockDirty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBase(false)
		lost, next := loss{after: "2 dirty", late: true}.play(t, b)
		require.ErrorIs(t, lost, framework.ErrSessionLost)
		require.Equal(t, migrate.ErrDirty{Version: 2}, next)
		version, applied := b.now()
		require.Equal(t, "2", version, "the step has ended")
		require.Equal(t, []int{1, 2}, applied)
	})
}

func TestLastStepThatEndsWithoutTheLockIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBase(true)
		lost, next := loss{after: "3 dirty"}.play(t, b)
		var e *migratelock.LostError
		require.ErrorAs(t, lost, &e)
		require.Equal(t, 3, e.Version)
		require.True(t, e.Begun)
		require.ErrorIs(t, lost, framework.ErrSessionLost)
		require.ErrorContains(t, lost, "the migration to version 3 ended without its lock")
		require.ErrorIs(t, next, migrate.ErrNoChange)
	})
}

// All steps were done under the lock.
func TestLossAfterTheLastStepIsNoError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lost, next := loss{after: "unlock"}.play(t, newBase(false))
		require.NoError(t, lost)
		require.ErrorIs(t, next, migrate.ErrNoChange)
	})
}

// A client that is closed stops a process between two steps.
func TestClosedClientStopsBetweenTwoSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		b := newBase(false)
		var r *replica
		r = newReplica(t, srv, b, func(c string) {
			if c == "1 dirty" {
				r.client.Close()
			}
		})
		r.mustOpen(t)
		require.ErrorIs(t, r.up(t), framework.ErrClosed)
		version, _ := b.now()
		require.Equal(t, "1", version)
	})
}

func TestForceAndDropNeedTheLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		b := newBase(false)
		r := newReplica(t, srv, b, func(c string) { require.NotEqual(t, "drop", c) })
		r.mustOpen(t)
		require.NoError(t, r.opened.Lock())
		r.lose()
		for _, err := range []error{r.opened.SetVersion(1, false), r.opened.SetVersion(database.NilVersion, false), r.opened.Drop()} {
			require.ErrorAs(t, err, new(*migratelock.LostError))
		}
		_, applied := b.now()
		require.Empty(t, applied)
		require.NoError(t, r.opened.Unlock(), "the loss was told")
		r.host.Heal()
	})
}
