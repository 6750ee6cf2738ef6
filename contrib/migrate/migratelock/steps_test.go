package migratelock_test

import (
	"context"
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
				results <- r.up()
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
	after string // what the first one's driver, or ours, has done when it is lost
	late  bool   // the first one goes on when the second one is done, not when that has the lock
}

// play returns what Up returns of both replicas. The second one waits for the first
// one's lock.
func (l loss) play(t *testing.T, b *base) (lost, next error) {
	t.Helper()
	srv := zktest.Start(t)
	opened, done := make(chan struct{}), make(chan struct{})
	var first *replica
	lose := func(call string) {
		if call != l.after {
			return
		}
		first.host.Isolate()
		if <-opened; l.late {
			<-done
		}
	}
	first = newReplica(t, srv, b, lose)
	first.between = lose
	t.Cleanup(func() { first.host.Heal() })
	first.mustOpen(t)
	second := newReplica(t, srv, b, nil)
	go func() {
		defer close(done)
		next = second.open(bounded(t))
		close(opened)
		if next == nil {
			next = second.up()
		}
	}()
	lost = first.up()
	<-done
	return lost, next
}

// Promise: No migration step begins without the lock.
func TestLossStopsBetweenTwoSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBase(false)
		lost, next := loss{after: "after 2"}.play(t, b)
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

// losesAt returns a replica that loses its lock at a call, and is connected again
// before that returns.
func losesAt(t *testing.T, b *base, at string) (r *replica) {
	t.Helper()
	lose := func(call string) {
		if call == at {
			r.lose()
			r.host.Heal()
			_ = r.client.WaitConnected(context.Background())
		}
	}
	r = newReplica(t, zktest.Start(t), b, lose)
	r.between = lose
	r.mustOpen(t)
	return r
}

// The same Migrate goes on, with the lock, wherever it has lost it. It would not if
// Unlock had returned an error.
func TestLossLeavesACleanVersion(t *testing.T) {
	for _, c := range []struct {
		at      string
		version string
		applied []int
		begun   bool
		next    error
	}{
		{"after 2", "2", []int{1, 2}, false, nil},
		{"2 dirty", "2", []int{1, 2}, true, nil},
		{"3 dirty", "3", []int{1, 2, 3}, true, migrate.ErrNoChange},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newBase(false)
			m := losesAt(t, b, c.at).migrate(t)
			var e *migratelock.LostError
			require.ErrorAs(t, m.Up(), &e, c.at)
			require.Equal(t, c.begun, e.Begun)
			require.ErrorIs(t, e, framework.ErrSessionLost)
			version, applied := b.now()
			require.Equal(t, c.version, version)
			require.Equal(t, c.applied, applied)

			require.Equal(t, c.next, m.Up(), c.at)
			version, applied = b.now()
			require.Equal(t, "3", version)
			require.Equal(t, []int{1, 2, 3}, applied)
		})
	}
}

// A step that has begun ends. The driver's own lock holds up the next replica.
func TestStepThatHasBegunEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBase(true)
		lost, next := loss{after: "2 dirty"}.play(t, b)
		var e *migratelock.LostError
		require.ErrorAs(t, lost, &e)
		require.Equal(t, 2, e.Version)
		require.True(t, e.Begun)
		require.ErrorContains(t, lost, "the migration to version 2 ended without its lock")
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

// Promise: A migration step that ends after the lock was lost returns an error.
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
		require.ErrorIs(t, r.up(), framework.ErrClosed)
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

func TestForceAndDropThatEndWithoutTheLock(t *testing.T) {
	for at, call := range map[string]func(m *migrate.Migrate) error{
		"1":    func(m *migrate.Migrate) error { return m.Force(1) },
		"drop": func(m *migrate.Migrate) error { return m.Drop() },
	} {
		synctest.Test(t, func(t *testing.T) {
			m := losesAt(t, newBase(false), at).migrate(t)
			var e *migratelock.LostError
			require.ErrorAs(t, call(m), &e, at)
			require.True(t, e.Begun, at)
			require.NoError(t, m.Force(2), "the same Migrate goes on")
		})
	}
}
