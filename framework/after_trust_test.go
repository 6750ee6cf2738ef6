package framework_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

func TestAfterTrustCallsWhenTheContextHasEnded(t *testing.T) {
	ends := map[string]func(*zktest.Server, *framework.Client){
		"lost":        func(srv *zktest.Server, c *framework.Client) { srv.Session(c.SessionID()).Expire() },
		"closed":      func(_ *zktest.Server, c *framework.Client) { c.Close() },
		"interrupted": func(srv *zktest.Server, _ *framework.Client) { srv.CutAll() },
	}
	for name, end := range ends {
		for _, policy := range []state.ErrorPolicy{state.SessionPolicy, state.StandardPolicy} {
			bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				s, err := c.Session(t.Context())
				require.NoError(t, err)
				trusted := s.Trusted(policy)
				calls := 0
				s.AfterTrust(trusted, func() {
					require.Error(t, trusted.Err())
					calls++
				})
				takenBack := s.AfterTrust(trusted, func() { t.Error("it was taken back") })
				require.True(t, takenBack())
				require.False(t, takenBack())
				synctest.Wait()
				require.Zero(t, calls)
				end(srv, c)
				if name == "closed" {
					require.Equal(t, 1, calls, "Close has waited")
				}
				time.Sleep(time.Second) // until the client is back
				synctest.Wait()
				if name == "interrupted" && policy == state.SessionPolicy {
					require.Zero(t, calls)
					return
				}
				require.Equal(t, 1, calls)
				stop := s.AfterTrust(s.Context(), func() { calls++ })
				if name == "interrupted" {
					require.True(t, stop(), "the session goes on")
					return
				}
				require.Equal(t, 2, calls, "at once")
				require.False(t, stop())
			})
		}
	}
}

// Promise: a context that an interruption has ended is known as ended after the
// reconnect, too: the function does not wait for the next interruption.
func TestAfterTrustOfAnEarlierConnection(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		s, err := c.Session(t.Context())
		require.NoError(t, err)
		trusted := s.Trusted(state.StandardPolicy)
		srv.CutAll()
		<-trusted.Done()
		require.NoError(t, c.WaitConnected(t.Context()))
		require.NoError(t, s.Trusted(state.StandardPolicy).Err())
		called := false
		stop := s.AfterTrust(trusted, func() { called = true })
		require.True(t, called)
		require.False(t, stop())
	})
}
