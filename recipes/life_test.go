package recipes_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// What is started and ends does so in the same way, whatever it is: these tests
// are for every subject of the table.

func eachSubject(t *testing.T, test func(t *testing.T, h *home, s subject)) {
	t.Helper()
	for name, s := range subjects {
		t.Run(name, func(t *testing.T) {
			recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) { test(t, newHome(t, w), s) })
		})
	}
}

// eachWaiting leaves out loops on the caller's goroutine.
func eachWaiting(t *testing.T, test func(t *testing.T, h *home, s subject)) {
	t.Helper()
	eachSubject(t, func(t *testing.T, h *home, s subject) {
		if !s.isLoop {
			test(t, h, s)
		}
	})
}

// start returns a subject that lives, and closes it at the end of the test.
func (s subject) start(t *testing.T, h *home) *living {
	t.Helper()
	l, err := s.begin(t, h)
	require.NoError(t, err)
	t.Cleanup(func() { l.close(recipetest.Within(t, time.Minute)) })
	return l
}

// startAmid returns a subject whose requests the server answers in this way.
func (s subject) startAmid(t *testing.T, h *home, answer zktest.Action) (l *living, amid *zktest.Injection) {
	t.Helper()
	if s.disturb == nil {
		amid = h.answers(s.asks, answer)
		return s.start(t, h), amid
	}
	l = s.start(t, h)
	synctest.Wait()
	amid = h.answers(s.asks, answer)
	s.disturb(t, h)
	return l, amid
}

// later calls a function that is to wait, and returns what it returns.
func later(t *testing.T, wait func(context.Context) error, ctx context.Context) <-chan error {
	t.Helper()
	returned := make(chan error, 1)
	go func() { returned <- wait(ctx) }()
	synctest.Wait()
	require.Empty(t, returned, "it does not wait")
	return returned
}

func requireAlive(t *testing.T, l *living) {
	t.Helper()
	synctest.Wait()
	require.False(t, recipetest.IsClosed(l.done))
}

// requireOver checks that a subject has ended. Whoever sees Done closed knows the
// reason.
func requireOver(t *testing.T, l *living, reason error) {
	t.Helper()
	synctest.Wait()
	require.True(t, recipetest.IsClosed(l.done))
	if reason == nil {
		require.NoError(t, l.err())
	} else {
		require.ErrorIs(t, l.err(), reason)
	}
}

// requireNothingLeft checks that the server has nothing of the client's.
func requireNothingLeft(t *testing.T, h *home) {
	t.Helper()
	time.Sleep(time.Second)
	synctest.Wait()
	s := zkinside.Of(h.Fake)
	require.Zero(t, s.Watches(h.client.SessionID()))
	require.Empty(t, s.Ephemerals(h.client.SessionID()))
}

// lasting is an error of a server that keeps failing.
var lasting = zktest.Fail(zkinside.ErrSystem)

func TestNothingStartsOnAClosedClient(t *testing.T) {
	eachSubject(t, func(t *testing.T, h *home, s subject) {
		require.NoError(t, h.client.Close())
		_, err := s.begin(t, h)
		require.ErrorIs(t, err, framework.ErrClosed)
	})
}

// Whatever is closed as soon as it was started leaves nothing, and asks for
// nothing later.
func TestLifeThatIsClosedAtOnce(t *testing.T) {
	eachSubject(t, func(t *testing.T, h *home, s subject) {
		l := s.start(t, h)
		require.NoError(t, l.close(h.Patience(t)))
		requireOver(t, l, s.closed)
		requireNothingLeft(t, h)
		h.Fake.ClearRequests()
		time.Sleep(time.Hour)
		require.Empty(t, h.Requests())
	})
}

// Nothing is made when the connection is back.
func TestLifeThatIsClosedBeforeThereIsAConnection(t *testing.T) {
	eachWaiting(t, func(t *testing.T, h *home, s subject) {
		if s.disturb != nil {
			return // it does not start without a connection
		}
		h.Fake.RefuseConnections(true)
		h.Fake.CutAll()
		synctest.Wait()
		l := s.start(t, h)
		requireAlive(t, l)
		l.close(recipetest.Within(t, time.Second))
		requireOver(t, l, s.closed)
		h.Fake.RefuseConnections(false)
		require.NoError(t, h.client.WaitConnected(h.Patience(t)))
		requireNothingLeft(t, h)
		require.Zero(t, h.Fake.CountRequests(s.asks))
	})
}

// Promise: Close leaves no node that is to go, no watch and no goroutine.
func TestLifeIsClosedOftenAndAtOnce(t *testing.T) {
	eachSubject(t, func(t *testing.T, h *home, s subject) {
		l := s.start(t, h)
		synctest.Wait()
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				assert.NoError(t, l.close(h.Patience(t)))
				assert.True(t, recipetest.IsClosed(l.done))
			})
		}
		all.Wait()
		before := l.err()
		require.NoError(t, l.close(h.Patience(t)))
		requireOver(t, l, s.closed)
		require.Equal(t, before, l.err())
		requireNothingLeft(t, h)
	})
}

func TestCloseEndsWhatWaits(t *testing.T) {
	eachWaiting(t, func(t *testing.T, h *home, s subject) {
		l, _ := s.startAmid(t, h, lasting)
		waits := later(t, l.wait, h.Patience(t))
		require.NoError(t, l.close(h.Patience(t)))
		synctest.Wait()
		require.Len(t, waits, 1)
		require.ErrorIs(t, <-waits, s.closed)
		require.ErrorIs(t, l.wait(h.Patience(t)), s.closed)
		requireOver(t, l, s.closed)
		requireNothingLeft(t, h)
	})
}

// The end of the client is told as such, also to those who wait. A Close or a
// Shutdown behind it finds nothing to do.
func TestEndOfTheClientEndsWhatWaits(t *testing.T) {
	eachSubject(t, func(t *testing.T, h *home, s subject) {
		l, _ := s.startAmid(t, h, lasting)
		requireAlive(t, l)
		var waits <-chan error
		if !s.isLoop {
			waits = later(t, l.wait, h.Patience(t))
		}
		require.NoError(t, h.client.Close())
		synctest.Wait()
		if !s.isLoop {
			require.Len(t, waits, 1)
			require.ErrorIs(t, <-waits, framework.ErrClosed)
		}
		for range 2 {
			requireOver(t, l, framework.ErrClosed)
			require.NotErrorIs(t, l.err(), s.closed)
			l.close(h.Patience(t))
		}
	})
}

func TestEndOfTheClientEndsALife(t *testing.T) {
	eachSubject(t, func(t *testing.T, h *home, s subject) {
		l := s.start(t, h)
		requireAlive(t, l)
		require.NoError(t, h.client.Close())
		requireOver(t, l, framework.ErrClosed)
		if s.closed != nil {
			require.NotErrorIs(t, l.err(), s.closed)
		}
	})
}

// Whoever sees that it is done knows why, and so does whoever waits. A copy is not
// done.
func TestRefusalEndsALife(t *testing.T) {
	eachSubject(t, func(t *testing.T, h *home, s subject) {
		l, trouble := s.startAmid(t, h, lasting)
		told := make(chan error, 1)
		go func() { <-l.done; told <- l.err() }()
		var waits <-chan error
		if !s.isLoop {
			waits = later(t, l.wait, h.Patience(t))
		}
		requireAlive(t, l)
		trouble.Remove()
		refusals := h.answers(s.asks, zktest.Fail(zktest.ErrNoAuth))
		time.Sleep(5 * time.Minute)
		if s.survives {
			requireAlive(t, l)
			if waits != nil {
				require.ErrorIs(t, <-waits, zk.ErrNoAuth) // the last error
			}
			refusals.Remove()
			l.close(h.Patience(t))
			requireNothingLeft(t, h)
			return
		}
		requireOver(t, l, zk.ErrNoAuth)
		require.ErrorIs(t, <-told, zk.ErrNoAuth)
		if waits != nil {
			require.Len(t, waits, 1)
			require.ErrorIs(t, <-waits, zk.ErrNoAuth)
		}
		if l.wait != nil {
			require.ErrorIs(t, l.wait(h.Patience(t)), zk.ErrNoAuth)
		}
		refusals.Remove()
		l.close(h.Patience(t))
		requireOver(t, l, zk.ErrNoAuth)
		requireNothingLeft(t, h)
	})
}

// The error of a call that gives up has the end of the caller's context, the cause of
// that end, and the last error of the servers.
//
// Promise: A call that gives up reports the last error that it retried through.
func TestWaitThatGivesUpNamesTheTrouble(t *testing.T) {
	errMine := errors.New("mine")
	for name, early := range map[string]bool{"before": true, "during": false} {
		t.Run(name, func(t *testing.T) {
			eachWaiting(t, func(t *testing.T, h *home, s subject) {
				l, _ := s.startAmid(t, h, lasting)
				time.Sleep(10 * time.Second)
				ctx, cancel := context.WithCancelCause(h.Patience(t))
				if early {
					cancel(errMine)
				}
				time.AfterFunc(time.Second, func() { cancel(errMine) })
				begun := time.Now()
				err := l.wait(ctx)
				require.ErrorIs(t, err, context.Canceled)
				require.ErrorIs(t, err, errMine)
				code, _ := framework.ServerCode(err)
				require.EqualValues(t, zkinside.ErrSystem, code, "%v", err)
				if early {
					require.LessOrEqual(t, time.Since(begun), time.Second/2)
				}
				requireAlive(t, l)
			})
		})
	}
}

func TestLossOfTheSessionEndsNoLife(t *testing.T) {
	eachSubject(t, func(t *testing.T, h *home, s subject) {
		l := s.start(t, h)
		if l.wait != nil {
			require.NoError(t, l.wait(h.Patience(t)))
		}
		require.True(t, h.Fake.Session(h.client.SessionID()).Expire())
		time.Sleep(time.Minute)
		requireAlive(t, l)
		if l.wait != nil {
			require.NoError(t, l.wait(h.Patience(t)))
		}
		require.NoError(t, l.close(h.Patience(t)))
		requireOver(t, l, s.closed)
		requireNothingLeft(t, h)
	})
}

func TestNothingStartsWithoutAClient(t *testing.T) {
	eachSubject(t, func(t *testing.T, h *home, s subject) {
		h.client = nil
		_, err := s.begin(t, h)
		require.ErrorIs(t, err, zk.ErrBadArguments)
	})
}
