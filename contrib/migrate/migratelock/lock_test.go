package migratelock_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/golang-migrate/migrate/v4"
	"github.com/golang-migrate/migrate/v4/database"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/contrib/migrate/migratelock"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

func TestOpenNamesTheHolderThatItHasWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		first, second := newReplica(t, srv, newBase(false), nil), newReplica(t, srv, newBase(false), nil)
		first.mustOpen(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begun := time.Now()
		err := second.open(ctx)
		require.Equal(t, time.Minute, time.Since(begun))
		var refusal *locks.NotAcquiredError
		require.ErrorAs(t, err, &refusal)
		require.NotEmpty(t, refusal.HolderID())
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

func TestOpenKeepsTheLockUntilUnlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		r := newReplica(t, srv, newBase(false), nil)
		r.mustOpen(t)
		require.Len(t, srv.Children(path), 1)
		require.ErrorIs(t, r.opened.Unlock(), database.ErrNotLocked)
		require.NoError(t, r.opened.Lock())
		require.Len(t, srv.Children(path), 1, "it is the same lock")
		require.ErrorIs(t, r.opened.Lock(), database.ErrLocked)
		require.NoError(t, r.opened.Unlock())
		require.Empty(t, srv.Children(path))
		require.ErrorIs(t, r.opened.Unlock(), database.ErrNotLocked)
	})
}

// golang-migrate gives a Lock up after 15 s, which goes on.
func TestLockGivesUpBeforeGolangMigrateDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		first, second := newReplica(t, srv, newBase(false), nil), newReplica(t, srv, newBase(false), nil)
		first.mustOpen(t)
		require.NoError(t, first.up())
		second.mustOpen(t)

		begun := time.Now()
		err := first.migrate(t).Up()
		require.Equal(t, 10*time.Second, time.Since(begun))
		require.ErrorIs(t, err, database.ErrLocked)
		require.ErrorAs(t, err, new(*locks.NotAcquiredError))
		synctest.Wait()
		require.Len(t, srv.Children(path), 1, "it does not wait any more")

		require.NoError(t, second.up())
		require.ErrorIs(t, first.migrate(t).Up(), migrate.ErrNoChange)
	})
}

// golang-migrate gives up a Lock that waits for the driver's lock, too, and never
// unlocks what that takes. A replica that knows nothing of our lock may have it.
//
// Promise: A lock that is granted after golang-migrate gave up is released.
func TestLockOfTheDriverThatComesLateIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		b := newBase(true)
		r := newReplica(t, srv, b, nil)
		r.mustOpen(t)
		b.own <- struct{}{}
		m := r.migrate(t)
		require.ErrorIs(t, m.Up(), migrate.ErrLockTimeout)
		require.ErrorIs(t, m.Up(), database.ErrLocked, "the first one still waits")

		<-b.own
		synctest.Wait()
		require.Empty(t, b.own)
		require.Empty(t, srv.Children(path))
		require.NoError(t, m.Up())
	})
}

// A loss while nothing is under way is none.
func TestLockThatWasLostBeforeTheFirstStepIsTakenAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		r := newReplica(t, srv, newBase(false), nil)
		r.mustOpen(t)
		r.lose()
		r.host.Heal()
		require.NoError(t, r.up())
	})
}

func TestOutageIsNotCalledLocked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		r := newReplica(t, srv, newBase(false), nil)
		r.mustOpen(t)
		r.lose()
		err := r.up()
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NotErrorIs(t, err, database.ErrLocked)
		r.host.Heal()
	})
}

func TestLocksAreTakenInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		var calls []string
		r := newReplica(t, srv, newBase(true), func(c string) {
			calls = append(calls, c)
			require.Len(t, srv.Children(path), 1, "our lock is held at %s", c)
		})
		r.mustOpen(t)
		require.NoError(t, r.up())
		require.Equal(t, []string{"open", "lock", "1 dirty", "1", "2 dirty", "2", "3 dirty", "3", "unlock"}, calls)
		require.Empty(t, srv.Children(path))
		require.ErrorIs(t, r.up(), migrate.ErrNoChange)
		require.Equal(t, []string{"lock", "unlock"}, calls[9:])
	})
}

func TestRefusalOfTheDriverGivesOurLockBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		r := newReplica(t, srv, newBase(false), nil)
		r.mustOpen(t)
		r.driver.err = database.ErrLocked
		require.ErrorIs(t, r.up(), database.ErrLocked)
		require.Empty(t, srv.Children(path))
		r.driver.err = nil
		require.NoError(t, r.up())
	})
}

// Whoever recovers from the panic goes on without a lock that nobody gives back.
//
// Promise: A database driver that panics leaves no lock behind.
func TestDriverThatPanicsLeavesNoLockBehind(t *testing.T) {
	for name, tc := range map[string]struct {
		at     string // the call of the driver that panics
		call   func(d database.Driver) error
		locked bool          // before the call
		takes  time.Duration // for the driver's lock
	}{
		"Lock":                    {at: "lock", call: database.Driver.Lock},
		"Unlock":                  {at: "unlock", call: database.Driver.Unlock, locked: true},
		"Unlock after a late one": {at: "unlock", call: database.Driver.Lock, takes: 15 * time.Second},
		"Close":                   {at: "close", call: database.Driver.Close},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := zktest.Start(t)
				r := newReplica(t, srv, newBase(false), nil)
				r.mustOpen(t)
				if tc.locked {
					require.NoError(t, r.opened.Lock())
				}
				r.driver.done = func(call string) {
					switch {
					case call == "lock" && tc.takes > 0:
						time.Sleep(tc.takes)
					case call == tc.at:
						panic("ouch")
					}
				}
				require.PanicsWithValue(t, "ouch", func() { _ = tc.call(r.opened) })
				require.Empty(t, srv.Children(path))
				r.driver.done = func(string) {}
				if tc.at != "close" {
					require.NoError(t, r.up(), "it is not locked")
				}
			})
		})
	}
}

func TestOpenThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		client := newReplica(t, srv, newBase(false), nil).client
		failure := errors.New("no such database")
		_, err := migratelock.Open(bounded(t), client, path, func() (database.Driver, error) { return nil, failure })
		require.ErrorIs(t, err, failure)
		_, err = migratelock.Open(bounded(t), client, path, func() (database.Driver, error) { return nil, nil })
		require.ErrorIs(t, err, zk.ErrBadArguments)
		_, err = migratelock.Open(bounded(t), client, path, nil)
		require.ErrorIs(t, err, zk.ErrBadArguments)
		require.PanicsWithValue(t, "ouch", func() {
			_, _ = migratelock.Open(bounded(t), client, path, func() (database.Driver, error) { panic("ouch") })
		})
		require.Empty(t, srv.Children(path))

		never := func() (database.Driver, error) { panic("called") }
		_, err = migratelock.Open(bounded(t), nil, path, never)
		require.ErrorIs(t, err, zk.ErrBadArguments)
		_, err = migratelock.Open(bounded(t), client, "migrations", never)
		require.ErrorIs(t, err, zk.ErrInvalidPath)
		client.Close()
		_, err = migratelock.Open(bounded(t), client, path, never)
		require.ErrorIs(t, err, framework.ErrClosed)
	})
}

func TestCloseGivesTheLockBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		r := newReplica(t, srv, newBase(false), nil)
		r.mustOpen(t)
		require.NoError(t, r.opened.Close())
		require.Empty(t, srv.Children(path))
		require.NoError(t, r.opened.Close())
		require.ErrorContains(t, r.opened.Lock(), "the driver is closed")

		r.mustOpen(t)
		require.NoError(t, r.opened.Lock())
		require.NoError(t, r.opened.Close())
		require.Empty(t, srv.Children(path))
		require.ErrorContains(t, r.opened.Lock(), "the driver is closed")
	})
}

func TestCloseEndsLocksThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		b := newBase(true)
		first, second := newReplica(t, srv, b, nil), newReplica(t, srv, b, nil)
		first.mustOpen(t)
		require.NoError(t, first.up())
		second.mustOpen(t)

		locked := make(chan error)
		go func() { locked <- first.opened.Lock() }() // waits for our lock
		synctest.Wait()
		require.NoError(t, first.opened.Close())
		require.ErrorContains(t, <-locked, "the driver is closed")
		synctest.Wait()
		require.Len(t, srv.Children(path), 1)

		b.own <- struct{}{}
		go func() { locked <- second.opened.Lock() }() // waits for the driver's
		synctest.Wait()
		require.NoError(t, second.opened.Close())
		<-b.own
		require.ErrorContains(t, <-locked, "the driver is closed")
		require.Empty(t, srv.Children(path))
	})
}

func TestDriverHasNoURL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReplica(t, zktest.Start(t), newBase(false), nil)
		r.mustOpen(t)
		_, err := r.opened.Open("postgres://localhost")
		require.ErrorIs(t, err, errors.ErrUnsupported)
	})
}
