package follow_test

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/testing/zktest"
)

// slow is a connection over a line of 200 kB a second.
type slow struct{ net.Conn }

func (c *slow) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p[:min(len(p), 2000)])
	time.Sleep(time.Duration(n) * time.Second / 200_000)
	return n, err
}

// Over a slow line, a client would not wait for an answer with very many bytes,
// and a session ends while there is no other answer.
func TestReadsOverASlowLineCostNoConnection(t *testing.T) {
	for name, opts := range map[string][]zktest.Option{"3.8": {zkinside.With(zkinside.Settings{Version38: true}).(zktest.Option)}, "3.9": nil} {
		t.Run(name, func(t *testing.T) {
			for _, c := range []struct {
				nodes, size, known int
				session            time.Duration
			}{{128, 20_000, 0, 10 * time.Second}, {1000, 500, 0, 2 * time.Second}, {1000, 1 << 10, 1 << 10, 2 * time.Second}} {
				recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) {
					readOverASlowLine(t, w, c.nodes, c.size, c.known, c.session)
				}, opts...)
			}
		})
	}
}

func readOverASlowLine(t *testing.T, w *recipetest.World, nodes, size, known int, session time.Duration) {
	require.NoError(t, w.Fake.Create("/r", nil))
	var paths []string
	for i := range nodes {
		paths = append(paths, fmt.Sprint("/r/", i))
		require.NoError(t, w.Fake.Create(paths[i], make([]byte, size)))
	}
	c, err := framework.New(w.Fake.Addr(), framework.WithSessionTimeout(session), framework.WithDialer(func(ctx context.Context, network, addr string) (net.Conn, error) {
		nc, err := w.Fake.Dialer()(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &slow{nc}, nil
	}))
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, c.WaitConnected(t.Context()))
	s, err := c.Session(t.Context())
	require.NoError(t, err)
	w.Fake.ClearRequests()
	for range 2 {
		reads := follow.ReadsOf(c, 32)
		reads.Size = known
		_, failed, err := readAll(t.Context(), reads, paths)
		require.NoError(t, err)
		require.Empty(t, failed)
		time.Sleep(time.Minute)
	}
	require.NoError(t, context.Cause(s.Context()), "nodes of %d bytes", size)
	require.Zero(t, w.Fake.CountRequests(zktest.OpConnect), "new connections: each ends all leases with StandardPolicy")
}
