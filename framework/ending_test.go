package framework_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// A caller that waits for the end of a session learns whether a server has ended it.
func TestAwaitEndOfASession(t *testing.T) {
	for name, row := range map[string]struct {
		end  func(srv *zktest.Server, c *framework.Client)
		want []error // nil if a server has ended it
	}{
		"ended by a server": {end: func(srv *zktest.Server, c *framework.Client) { srv.Session(c.SessionID()).Expire() }},
		"closed":            {end: func(_ *zktest.Server, c *framework.Client) { c.Close() }},
		"closed without a connection": {
			end:  func(srv *zktest.Server, c *framework.Client) { cutOff(srv); c.Close() },
			want: []error{framework.ErrLeftToServers, framework.ErrClosed},
		},
		"closed with a node that stays": {
			end: func(_ *zktest.Server, c *framework.Client) {
				kept, _ := c.Create(context.Background(), "/kept", nil, framework.WithMode(framework.Ephemeral))
				insider.Of(c).KeepUntil(kept.Session.ID(), kept.Path, time.Now().Add(time.Hour))
				c.Close()
			},
			want: []error{framework.ErrLeftToServers, framework.ErrClosed},
		},
		"replaced by a server that keeps its nodes": {
			end: func(srv *zktest.Server, c *framework.Client) {
				zkinside.Of(srv).ReplaceSession(c.SessionID())
				srv.CutAll()
			},
			want: []error{framework.ErrLeftToServers, framework.ErrSessionLost},
		},
		"lost": {
			end:  func(srv *zktest.Server, _ *framework.Client) { cutOff(srv) },
			want: []error{framework.ErrLeftToServers, framework.ErrSessionLost},
		},
	} {
		t.Run(name, func(t *testing.T) {
			serverOnly(t, func(t *testing.T, srv *zktest.Server) {
				c := unclosed(t, srv)
				defer c.Close()
				require.NoError(t, c.WaitConnected(t.Context()))
				s, err := c.Session(t.Context())
				require.NoError(t, err)
				returned := make(chan error, 1)
				go func() { returned <- s.AwaitEnd(context.Background()) }()
				synctest.Wait()
				require.Empty(t, returned, "it lives")
				row.end(srv, c)
				err = <-returned
				if row.want == nil {
					require.NoError(t, err)
				}
				for _, want := range row.want {
					require.ErrorIs(t, err, want)
				}
				ended, cancel := context.WithCancel(context.Background())
				cancel()
				require.Equal(t, err, s.AwaitEnd(ended), "it is known")
				srv.RefuseConnections(false)
			})
		})
	}
}

func cutOff(srv *zktest.Server) {
	srv.RefuseConnections(true)
	srv.CutAll()
}

// An outage that is shorter than the connection timeout does not count, and the next
// one is counted from its own beginning.
func TestAwaitOutageCountsEachOutageAlone(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c := newClient(t, srv, framework.WithConnectionTimeout(5*time.Second))
		require.NoError(t, c.WaitConnected(t.Context()))
		returned := make(chan error, 1)
		go func() { returned <- insider.Of(c).AwaitOutage(context.Background()) }()
		for range 5 {
			time.Sleep(4 * time.Second)
			cutOff(srv)
			time.Sleep(2 * time.Second)
			srv.RefuseConnections(false)
			require.NoError(t, c.WaitConnected(t.Context()))
		}
		time.Sleep(time.Minute)
		require.Empty(t, returned)
		cutOff(srv)
		begun := time.Now()
		require.ErrorIs(t, <-returned, framework.ErrNotConnected)
		require.Equal(t, 5*time.Second, time.Since(begun))
		srv.RefuseConnections(false)
	})
}
