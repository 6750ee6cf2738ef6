package framework_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// crash is how long after the death of a follower the leader gave away what its
// client had, and how long after it the client gave its session up. The client
// can reach no other server.
func crash(t *testing.T, sincePing time.Duration, opts ...framework.Option) (given, ended time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ens := zktest.StartEnsemble(t, 3, zkinside.With(zkinside.Settings{Tick: time.Second}).(zktest.Option))
		follower := ens.Followers()[0]
		connect := func(m *zktest.Member, opts ...framework.Option) *framework.Client {
			opts = append(opts, framework.WithDialer(ens.Dialer()), framework.WithSessionTimeout(sessionTimeout))
			c, err := framework.New(m.Addr(), opts...)
			require.NoError(t, err)
			t.Cleanup(func() { c.Close() })
			return c
		}
		other := connect(ens.Leader())
		n := mustCreate(t, connect(follower, opts...), "/n", "", framework.WithMode(framework.Ephemeral))
		time.Sleep(20*pingInterval + sincePing)
		require.NoError(t, n.Session.Context().Err(), "a healthy session lives")
		there, _, gone, err := other.ExistsW(t.Context(), "/n")
		require.NoError(t, err)
		require.True(t, there)

		dead := time.Now()
		follower.Stop()
		done := make(chan struct{})
		go func() {
			defer close(done)
			<-n.Session.Context().Done()
			ended = time.Since(dead)
		}()
		<-gone.Done()
		given = time.Since(dead)
		<-done
	})
	return given, ended
}

func TestFollowerThatDiesGivesNothingAwayTooSoon(t *testing.T) {
	for name, opt := range map[string]framework.Option{
		"margin of 0.4":  framework.WithSafetyMargin(0.4),
		"strict contact": framework.WithStrictContact(),
	} {
		t.Run(name, func(t *testing.T) {
			for sincePing := time.Millisecond; sincePing < pingInterval; sincePing += 149 * time.Millisecond {
				given, ended := crash(t, sincePing, opt)
				require.Less(t, ended, given, "the follower dies %v after a ping", sincePing)
			}
		})
	}
}
