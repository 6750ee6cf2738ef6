package framework_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/retry"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// renewSession ends a client's session and returns when the client has the next
// one.
func renewSession(t *testing.T, srv *zktest.Server, c *framework.Client) {
	t.Helper()
	old := c.SessionID()
	seq := c.States(t.Context())
	require.True(t, srv.Session(old).Expire())
	for s := range seq {
		if s == state.Reconnected {
			break
		}
	}
	require.NotEqual(t, old, c.SessionID())
}

// Curator's SessionFailRetryLoop, in its mode FAIL.
func TestInSessionNothingIsDoneInALaterSession(t *testing.T) {
	for name := range everyOperation(nil) {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				mustCreate(t, c, "/a", "")
				err := c.InSession(t.Context(), func(ctx context.Context) error {
					renewSession(t, srv, c)
					before := len(ops(srv))
					err := everyOperation(c)[name](ctx, "/a")
					if !strings.HasSuffix(name, " guaranteed") { // the client goes on with those
						require.Len(t, ops(srv), before, "nothing was sent")
					}
					require.ErrorIs(t, err, framework.ErrSessionLost)
					require.ErrorIs(t, err, context.Canceled)
					return err
				})
				require.ErrorIs(t, err, framework.ErrSessionLost)
			})
		})
	}
}

// A retry is an operation in a later session, too.
func TestInSessionARetryDoesNotMoveToALaterSession(t *testing.T) {
	for name := range everyOperation(nil) {
		t.Run(name, func(t *testing.T) {
			serverOnly(t, func(t *testing.T, srv *zktest.Server) {
				c := newClient(t, srv, framework.WithRetry(retry.Forever(time.Second)))
				mustCreate(t, c, "/n", "")
				mustCreate(t, c, "/n/a", "")
				old := c.SessionID()
				view := namespace(t, c, "/n") // its operations count as well
				srv.Inject(zktest.Rule{Op: zktest.OpAny, Session: old, Do: zktest.Call(func(zktest.Request) {
					srv.Session(old).Expire()
				})})
				require.NoError(t, c.InSession(t.Context(), func(ctx context.Context) error {
					err := everyOperation(view)[name](ctx, "/a")
					require.Error(t, err)
					if !errors.Is(err, framework.ErrOutcomeUnknown) { // which is said before anybody knows of the loss
						require.ErrorIs(t, err, framework.ErrSessionLost)
					}
					return nil
				}), "what f returns counts")
				time.Sleep(time.Minute)
				allowed := []zktest.Op{zkinside.OpPing, zktest.OpConnect, zktest.OpMulti, zkinside.OpGetChildren2, zktest.OpDelete} // the last three are clean-up
				if strings.HasPrefix(name, "watch") {                                                                               // it may be set again, and withdrawn, before its caller knows of the loss
					allowed = append(allowed, zkinside.OpAddWatch, zkinside.OpRemoveWatches)
				}
				for _, r := range srv.Requests() {
					require.True(t, r.Session == old || slices.Contains(allowed, r.Op), "%v", r)
				}
				require.Empty(t, srv.Watches())
			})
		})
	}
}

// The next session has set the watch by the time at which the caller looks.
//
// Promise: A Watcher that is requested within a session never belongs to a later session.
func TestInSessionWatcherOfALaterSessionIsNotReturned(t *testing.T) {
	for range 100 { // mostly, the caller sees the end of the session first
		bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
			srv.Inject(zktest.Rule{Op: zkinside.OpAddWatch, Do: zktest.Fail(zkinside.ErrThrottled)})
			var once sync.Once
			err := c.InSession(t.Context(), func(ctx context.Context) error {
				ctx = framework.Extend(c).OnError(ctx, func(error) {
					once.Do(func() {
						renewSession(t, srv, c)
						synctest.Wait()
					})
				})
				w, err := c.NewWatcher(ctx, "/n")
				if err == nil {
					w.Close()
				}
				require.ErrorIs(t, err, framework.ErrSessionLost)
				return err
			})
			require.ErrorIs(t, err, framework.ErrSessionLost)
			synctest.Wait()
			require.Empty(t, srv.Watches())
		})
	}
}

func TestInSessionSurvivesAReconnectInTheSameSession(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		require.NoError(t, c.InSession(t.Context(), func(ctx context.Context) error {
			outage(srv, time.Second)
			_, _, err := c.Get(ctx, "/")
			return err
		}))
	})
}

func TestInSessionContextEndsWithTheSession(t *testing.T) {
	for name, tc := range map[string]struct {
		end  func(srv *zktest.Server, c *framework.Client)
		want error
	}{
		"lost":   {func(srv *zktest.Server, c *framework.Client) { srv.Session(c.SessionID()).Expire() }, framework.ErrSessionLost},
		"closed": {func(_ *zktest.Server, c *framework.Client) { c.Close() }, framework.ErrClosed},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				begin := time.Now()
				err := c.InSession(t.Context(), func(ctx context.Context) error {
					time.AfterFunc(time.Minute, func() { tc.end(srv, c) })
					<-ctx.Done()
					require.ErrorIs(t, context.Cause(ctx), tc.want)
					return ctx.Err()
				})
				require.Equal(t, time.Minute, time.Since(begin))
				require.ErrorIs(t, err, tc.want)
				require.ErrorIs(t, err, context.Canceled)
			})
		})
	}
}

func TestInSessionEndsWithTheCallersContextToo(t *testing.T) {
	bubble(t, func(t *testing.T, _ *zktest.Server, c *framework.Client) {
		type key struct{}
		ctx := context.WithValue(within(t, time.Minute), key{}, "kept")
		var kept context.Context
		err := c.InSession(ctx, func(ctx context.Context) error {
			kept = ctx
			require.Equal(t, "kept", ctx.Value(key{}))
			<-ctx.Done()
			return ctx.Err()
		})
		require.Equal(t, context.DeadlineExceeded, err)
		require.Error(t, kept.Err())

		require.NoError(t, c.InSession(t.Context(), func(ctx context.Context) error { kept = ctx; return nil }))
		require.ErrorIs(t, kept.Err(), context.Canceled, "and with the call")

		why := errors.New("why")
		require.True(t, why == c.InSession(t.Context(), func(context.Context) error { return why }))
	})
}

func TestInSessionWaitsForAConnection(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		srv.RefuseConnections(true)
		c := newClient(t, srv, framework.WithConnectionTimeout(time.Second))
		require.ErrorIs(t, c.InSession(t.Context(), func(context.Context) error { panic("not reached") }), framework.ErrNotConnected)
	})
}

// A context of one client's session says nothing about another client.
func TestInSessionOfOneClientDoesNotBindAnother(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		other := another(t, srv)
		require.NoError(t, c.InSession(t.Context(), func(ctx context.Context) error {
			return other.InSession(ctx, func(ctx context.Context) error {
				_, _, err := other.Get(ctx, "/")
				require.NoError(t, err)
				renewSession(t, srv, c)
				_, _, err = c.Get(context.WithoutCancel(ctx), "/")
				require.ErrorIs(t, err, framework.ErrSessionLost, "both are bound, the outer one as well")
				_, _, err = other.Get(context.WithoutCancel(ctx), "/")
				return err
			})
		}))
	})
}
