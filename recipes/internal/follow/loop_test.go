package follow_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/testing/zktest"
)

func TestMain(m *testing.M) { recipetest.Main(m) }

// follower follows the data of one node.
type follower struct {
	follow.Loop
	ended chan error

	mu    sync.Mutex // protects the following fields
	seen  []string
	looks []time.Duration // since the beginning
	begun time.Time
}

func newFollower(c *framework.Client, change func(*follower)) *follower {
	f := &follower{ended: make(chan error, 1), begun: time.Now()}
	f.Client, f.Look = c, func(ctx context.Context, _ *framework.Session) error { return f.look(ctx) }
	if change != nil {
		change(f)
	}
	return f
}

func (f *follower) look(ctx context.Context) error {
	f.mu.Lock()
	f.looks = append(f.looks, time.Since(f.begun))
	f.mu.Unlock()
	data, _, watch, err := f.Client.GetW(ctx, "/n")
	if err != nil {
		return err
	}
	defer watch.Stop()
	f.Recovered()
	f.mu.Lock()
	f.seen = append(f.seen, string(data))
	f.mu.Unlock()
	_, err = watch.Wait(ctx)
	return err
}

func (f *follower) run(ctx context.Context) { f.ended <- f.Run(ctx) }

func (f *follower) has() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seen
}

func (f *follower) pauses() (d []time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.looks[1:] {
		d = append(d, f.looks[i+1]-f.looks[i])
	}
	return d
}

func inVirtualTime(t *testing.T, scenario func(t *testing.T, w *recipetest.World)) {
	t.Helper()
	recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		require.NoError(t, w.Fake.Create("/n", []byte("a")))
		scenario(t, w)
	})
}

func settle(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestLoopFollowsThroughOutagesAndLosses(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		c, network := w.Connect(t)
		f := newFollower(c, nil)
		ctx, cancel := context.WithCancel(t.Context())
		go f.run(ctx)
		settle(time.Second)
		require.NoError(t, w.Fake.Set("/n", []byte("b")))
		settle(time.Second)
		require.Equal(t, []string{"a", "b"}, f.has())

		network.Refuse(true)
		network.Cut()
		require.NoError(t, w.Fake.Set("/n", []byte("c")))
		settle(time.Minute) // the session is lost
		require.ErrorIs(t, f.LastError(), framework.ErrNotConnected)
		network.Refuse(false)
		settle(10 * time.Second)
		require.Equal(t, []string{"a", "b", "c"}, f.has())
		require.NoError(t, f.LastError())

		cancel()
		require.ErrorIs(t, <-f.ended, context.Canceled)
		settle(time.Second) // the watch is withdrawn in the background
		require.Zero(t, w.Watches())
	})
}

func TestLoopEndsWithWhatWaitingDoesNotCure(t *testing.T) {
	for name, c := range map[string]struct {
		do   zktest.Action
		want error
	}{
		"no rights": {zktest.Fail(zktest.ErrNoAuth), zk.ErrNoAuth},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *recipetest.World) {
				client, _ := w.Connect(t)
				w.Fake.Inject(zktest.Rule{Op: zktest.OpGetData, Do: c.do})
				require.ErrorIs(t, newFollower(client, nil).Run(t.Context()), c.want)
			})
		})
	}
	t.Run("the client is closed", func(t *testing.T) {
		inVirtualTime(t, func(t *testing.T, w *recipetest.World) {
			client, _ := w.Connect(t)
			f := newFollower(client, nil)
			go f.run(t.Context())
			settle(time.Second)
			require.NoError(t, client.Close())
			require.ErrorIs(t, <-f.ended, framework.ErrClosed)
		})
	})
	t.Run("the follower says so", func(t *testing.T) {
		inVirtualTime(t, func(t *testing.T, w *recipetest.World) {
			client, _ := w.Connect(t)
			w.Fake.Inject(zktest.Rule{Op: zktest.OpGetData, Do: zktest.Fail(zkinside.ErrNoNode)})
			f := newFollower(client, func(f *follower) {
				f.Ends = func(err error) bool { return errors.Is(err, zk.ErrNoNode) }
			})
			require.ErrorIs(t, f.Run(t.Context()), zk.ErrNoNode)
		})
	})
	t.Run("the look is done", func(t *testing.T) {
		inVirtualTime(t, func(t *testing.T, w *recipetest.World) {
			client, _ := w.Connect(t)
			f := newFollower(client, func(f *follower) {
				f.Look = func(context.Context, *framework.Session) error { return follow.ErrDone }
			})
			require.NoError(t, f.Run(t.Context()))
		})
	})
}

// The pauses grow while trouble lasts, and are short again behind it. The log
// has each kind of trouble once.
func TestTroubleThatLasts(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		var log recipetest.Log
		c, _ := w.Connect(t, framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		f := newFollower(c, func(f *follower) {
			f.What, f.About = "follower", func() slog.Attr { return slog.String("path", "/n") }
		})
		sick := w.Fake.Inject(zktest.Rule{Op: zktest.OpGetData, Times: -1, Do: zktest.Fail(-1)})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go f.run(ctx)
		settle(5 * time.Minute)
		pauses := f.pauses()
		require.Equal(t, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, pauses[:3])
		require.Equal(t, 30*time.Second, pauses[len(pauses)-1])
		require.Error(t, f.LastError())

		waiting, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		<-waiting.Done()
		err := f.GaveUp(waiting)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "last error")
		code, ok := framework.ServerCode(err)
		require.True(t, ok)
		require.EqualValues(t, -1, code)

		sick.Remove()
		settle(time.Minute)
		require.NoError(t, f.LastError())
		require.Equal(t, 1, strings.Count(log.String(), "follower is retried after an error"), log.String())

		again := w.Fake.Inject(zktest.Rule{Op: zktest.OpGetData, Do: zktest.Fail(-1)})
		require.NoError(t, w.Fake.Set("/n", []byte("b")))
		settle(1500 * time.Millisecond)
		require.Equal(t, 1, again.Hits())
		require.Equal(t, []string{"a", "b"}, f.has())
		require.Equal(t, 2, strings.Count(log.String(), "follower is retried after an error"), log.String())
	})
}

// A follower that survives refused credentials reads again as soon as a server accepts
// the credentials.
func TestCredentialsThatAreTakenAgain(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		var log recipetest.Log
		c, _ := w.Connect(t, framework.WithAuth("digest", []byte("me:secret")), framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		f := newFollower(c, func(f *follower) {
			f.Survives = follow.RefusedCredentials
			f.What, f.About = "follower", func() slog.Attr { return slog.String("path", "/n") }
		})
		ctx, cancel := context.WithCancel(t.Context())
		go f.run(ctx)
		settle(time.Second)

		refusal := w.Fake.Inject(zktest.Rule{Op: zkinside.OpAuth, Times: -1, Do: zktest.Fail(zkinside.ErrAuthFailed)})
		w.Fake.Session(c.SessionID()).Expire()
		settle(time.Hour)
		require.ErrorIs(t, f.LastError(), zk.ErrAuthFailed)
		require.Equal(t, 1, strings.Count(log.String(), "follower is retried after an error"), log.String())
		require.Equal(t, []string{"a"}, f.has())
		refusal.Remove()
		require.NoError(t, w.Fake.Set("/n", []byte("b")))
		for s := range c.States(t.Context()) {
			if s.IsConnected() {
				break
			}
		}
		synctest.Wait()
		require.Equal(t, []string{"a", "b"}, f.has(), "at once")
		require.NoError(t, f.LastError())

		w.Fake.Inject(zktest.Rule{Op: zkinside.OpAuth, Times: -1, Do: zktest.Fail(zkinside.ErrAuthFailed)})
		w.Fake.Session(c.SessionID()).Expire()
		settle(time.Minute)
		cancel()
		require.ErrorIs(t, <-f.ended, context.Canceled)
	})
}

// The context of a loop may be pinned to a session, and not end with it. There
// is nothing to wait for when the session is lost.
func TestLoopThatIsPinnedToALostSessionEnds(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		c, _ := w.Connect(t)
		var pinned context.Context
		require.NoError(t, c.InSession(t.Context(), func(ctx context.Context) error {
			pinned = context.WithoutCancel(ctx)
			return nil
		}))
		ctx, cancel := context.WithCancel(pinned)
		defer cancel()
		failed := 0
		f := newFollower(c, func(f *follower) {
			f.Tell = func(error) {
				if failed++; failed > 100 {
					cancel() // it would go on for ever, without a pause
				}
			}
		})
		go f.run(ctx)
		settle(time.Second)
		w.Fake.Session(c.SessionID()).Expire()
		settle(time.Minute)
		require.ErrorIs(t, <-f.ended, framework.ErrSessionLost)
		require.Less(t, failed, 10)
	})
}
