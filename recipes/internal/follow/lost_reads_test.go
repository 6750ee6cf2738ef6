package follow_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/testing/zktest"
)

// The servers have answered multiReads. A later connection ends by accident with
// the first one that it gets, or with the probe.
func TestConnectionThatEndsWithItsFirstMultiReadIsForgiven(t *testing.T) {
	for _, op := range []zktest.Op{zktest.OpMultiRead, zktest.OpRemoveWatches} {
		inVirtualTime(t, func(t *testing.T, w *recipetest.World) {
			paths := makeNodes(t, w, 1000)
			_, _, err := readAll(t.Context(), follow.ReadsOf(w.Observer, 8), paths)
			require.NoError(t, err)
			w.Fake.CutAll() // a server restarts
			time.Sleep(time.Second)
			lost := w.Fake.Inject(zktest.Rule{Op: op, Do: zktest.DropReply()})
			w.Fake.ClearRequests()
			for range 3 {
				data, _, err := readAll(t.Context(), follow.ReadsOf(w.Observer, 8), paths)
				require.NoError(t, err)
				require.Equal(t, paths, data)
				time.Sleep(time.Hour)
			}
			require.Equal(t, 1, lost.Hits())
			require.Less(t, w.Fake.CountRequests(zktest.OpGetData), 300, "%v: 3 reads of 1000 nodes", op)
		})
	}
}

// limited is a connection through a proxy that hangs up on long answers.
type limited struct {
	net.Conn
	limit, left int
	cuts        *atomic.Int64
}

func (c *limited) Read(p []byte) (int, error) {
	if c.left == 0 {
		if _, err := io.ReadFull(c.Conn, p[:4]); err != nil {
			return 0, err
		}
		c.left = int(p[0])<<24 | int(p[1])<<16 | int(p[2])<<8 | int(p[3])
		if c.left > c.limit {
			c.cuts.Add(1)
			c.Close()
			return 0, io.ErrUnexpectedEOF
		}
		return 4, nil
	}
	n, err := c.Conn.Read(p[:min(len(p), c.left)])
	c.left -= n
	return n, err
}

// A proxy hangs up on answers of more than 100 kB. No node has so much. Of nodes
// with 50 kB, the first answer is too long, too. Each read of all nodes finds out
// anew.
func TestProxyThatHangsUpOnLongAnswersCostsFewConnections(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *recipetest.World) { readBehindProxy(t, w, 300, 1000, 1) })
	inVirtualTime(t, func(t *testing.T, w *recipetest.World) { readBehindProxy(t, w, 50, 50_000, 1) })
}

// readBehindProxy reads the nodes several times, each of which ends so many
// connections at most.
func readBehindProxy(t *testing.T, w *recipetest.World, nodes, size, most int) {
	require.NoError(t, w.Fake.Create("/r", nil))
	var paths []string
	for i := range nodes {
		paths = append(paths, fmt.Sprint("/r/", i))
		require.NoError(t, w.Fake.Create(paths[i], make([]byte, size)))
	}
	var cuts atomic.Int64
	c, err := framework.New(w.Fake.Addr(), framework.WithDialer(func(ctx context.Context, network, addr string) (net.Conn, error) {
		nc, err := w.Fake.Dialer()(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &limited{Conn: nc, limit: 100_000, cuts: &cuts}, nil
	}))
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, c.WaitConnected(t.Context()))
	_, _, err = framework.Extend(c).MultiRead(t.Context(), "/r")
	require.NoError(t, err)
	const times = 10
	for range times {
		_, failed, err := readAll(t.Context(), follow.ReadsOf(c, 8), paths)
		require.NoError(t, err)
		require.Empty(t, failed)
		time.Sleep(time.Minute)
	}
	require.LessOrEqual(t, int(cuts.Load()), times*most, "nodes of %d bytes", size)
	require.NotZero(t, cuts.Load())
}

// Also behind requests that have few nodes because of long paths, a request has at
// most twice as many nodes as the one before.
func TestRequestsBehindThoseForLongPathsAtMostDouble(t *testing.T) {
	var paths []string
	var asked []int
	long := strings.Repeat("x", 20<<10)
	for i := range 20 {
		paths = append(paths, fmt.Sprint("/", i, long))
	}
	for i := range 2000 {
		paths = append(paths, fmt.Sprint("/", 20+i))
	}
	_, _, err := readAll(t.Context(), ofSizes(64<<20, make([]int, 2020), &asked), paths)
	require.NoError(t, err)
	for i := range asked[1:] {
		require.LessOrEqual(t, asked[i+1], 2*asked[i], "%v", asked)
	}
}

// Some nodes with much data do not keep the others from being read together.
func TestSomeLargeNodesLeaveTheOthersTogether(t *testing.T) {
	var paths []string
	var asked []int
	sizes := slices.Concat(slices.Repeat([]int{1 << 20}, 17), make([]int, 5000))
	for i := range sizes {
		paths = append(paths, fmt.Sprint("/", i))
	}
	_, _, err := readAll(t.Context(), ofSizes(64<<20, sizes, &asked), paths)
	require.NoError(t, err)
	require.Less(t, len(asked), 40, "%v", asked)
}
