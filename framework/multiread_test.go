package framework_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zkserver"
	"github.com/gocurator/curator/testing/zktest"
)

func TestMultiReadHasEachNode(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c, err := framework.New(srv.Addr()+"/app", framework.WithDialer(srv.Dialer()))
		require.NoError(t, err)
		defer c.Close()
		view, err := c.Namespace("/n")
		require.NoError(t, err)
		mustCreate(t, view, "/a", "of a")
		mustCreate(t, view, "/b", "")
		mustCreate(t, view, "/secret", "", framework.WithACL(zk.DigestACL(zk.PermAll, "user", "password")))
		nodes, zxid, err := framework.Extend(view).MultiRead(t.Context(), "/b", "/gone", "/secret", "/a")
		require.NoError(t, err)
		require.Len(t, nodes, 4)
		require.NoError(t, nodes[0].Err)
		require.Empty(t, nodes[0].Data)
		require.ErrorIs(t, nodes[1].Err, zk.ErrNoNode)
		require.Nil(t, nodes[1].Stat)
		require.ErrorIs(t, nodes[2].Err, zk.ErrNoAuth)
		require.NoError(t, nodes[3].Err)
		require.Equal(t, "of a", string(nodes[3].Data))
		want, _ := srv.Node("/app/n/a")
		require.Equal(t, want.Stat.Czxid, nodes[3].Stat.Czxid)
		require.Equal(t, srv.Zxid(), zxid)
	})
}

// A node that is missing has no value, whatever follows it in the answer, and
// however ClickHouse Keeper writes that down. Values of any length follow.
func TestMultiReadOfMissingNodesOnClickHouseKeeper(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t, zktest.WithClickHouseKeeper())
		c := newClient(t, srv)
		require.NoError(t, srv.Create("/d/n", nil))
		for size := range 300 {
			require.NoError(t, srv.Set("/d/n", bytes.Repeat([]byte("v"), size)))
			for _, names := range []string{"xn", "nx", "xy", "xnn", "nxn", "xyn"} {
				var paths []string
				for _, name := range names {
					paths = append(paths, "/d/"+string(name))
				}
				nodes, _, err := framework.Extend(c).MultiRead(t.Context(), paths...)
				require.NoError(t, err)
				for i, n := range nodes {
					if paths[i] != "/d/n" {
						require.Equal(t, framework.NodeRead{Err: zk.ErrNoNode}, n)
						continue
					}
					require.NoError(t, n.Err)
					require.Len(t, n.Data, size)
				}
			}
		}
		lists, err := framework.Extend(c).MultiSiblings(t.Context(), "/none", "/d", "/none")
		require.NoError(t, err)
		require.Equal(t, []framework.SiblingsRead{{Err: zk.ErrNoNode}, {Names: []string{"n"}}, {Err: zk.ErrNoNode}}, lists)
	})
}

func TestMultiReadRefusesWhatMakesNoSense(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		_, _, err := framework.Extend(c).MultiRead(t.Context())
		require.ErrorIs(t, err, zk.ErrBadArguments)
		_, _, err = framework.Extend(c).MultiRead(t.Context(), "/a", "b")
		require.ErrorIs(t, err, zk.ErrInvalidPath)
		_, _, err = framework.Extend(c).MultiRead(t.Context(), slices.Repeat([]string{"/" + strings.Repeat("x", 1000)}, 2000)...)
		require.ErrorIs(t, err, framework.ErrRequestTooLarge)
		require.Zero(t, srv.CountRequests(zktest.OpMultiRead))
	})
}

// One node is written, and then the other one, again and again. So the first one
// has the version of the other one or the next, at each moment. Reads one by one
// see it otherwise, and MultiRead does not, whatever is between the two.
func TestRealServerMultiReadIsAsOfOneTransaction(t *testing.T) {
	thorough.OnRealServers(t)
	t.Parallel()
	ens := zkserver.StartEnsemble(t, 3)
	for i, srv := range append(ens.Members(), sharedServer(t)) {
		writer, reader := realClient(t, srv, ""), framework.Extend(realClient(t, srv, ""))
		first, second := fmt.Sprint("/first-", i), fmt.Sprint("/second-", i)
		mustCreate(t, writer, first, "")
		mustCreate(t, writer, second, "")
		mustWatch(t, reader.Client, first) // servers before 3.9 show by that what they know
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for ctx.Err() == nil {
				writer.Set(ctx, first, nil, framework.AnyVersion)
				writer.Set(ctx, second, nil, framework.AnyVersion)
			}
		}()
		paths := append([]string{first}, slices.Repeat([]string{"/"}, 1000)...)
		paths = append(paths, second)
		versions := map[int32]struct{}{}
		for begun := time.Now(); len(versions) < thorough.Size(40, 10) && time.Since(begun) < time.Second || len(versions) < 10; {
			nodes, zxid, err := reader.MultiRead(ctx, paths...)
			require.NoError(t, err)
			a, b := nodes[0].Stat, nodes[len(nodes)-1].Stat
			require.Contains(t, []int32{0, 1}, a.Version-b.Version)
			require.LessOrEqual(t, max(a.Mzxid, b.Mzxid), zxid)
			versions[a.Version] = struct{}{}
		}
		stop()
		<-done
		require.NoError(t, writer.Delete(t.Context(), first, framework.AnyVersion))
		require.NoError(t, writer.Delete(t.Context(), second, framework.AnyVersion))
	}
}

// The probe ends no connection, whatever the server's version. A server that has
// set a persistent watch takes multiReads.
func TestRealServerProbeEndsNoConnection(t *testing.T) {
	thorough.OnRealServers(t)
	t.Parallel()
	c := realClient(t, sharedServer(t), "")
	s, err := c.Session(t.Context())
	require.NoError(t, err)
	connected := s.Trusted(state.StandardPolicy)
	for range 3 {
		err := readTwo(t, c)
		require.True(t, err == nil || framework.IsRefusal(err), "%v", err)
	}
	w, err := c.NewWatcher(t.Context(), "/")
	if err == nil {
		defer w.Close()
		require.NoError(t, readTwo(t, c))
	}
	require.NoError(t, connected.Err())
}
