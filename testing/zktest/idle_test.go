package zktest

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

func TestWaitIdle(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		srv.Inject(Rule{Op: wire.OpExists, Do: All(DelayRequest(time.Second), DelayReply(time.Second))})
		c.send(wire.OpExists, "/a", true)
		start := time.Now()
		go c.receive() // the answer, and then nobody reads
		time.AfterFunc(5*time.Second, func() { _ = srv.Create("/a", nil) })
		time.AfterFunc(6*time.Second, func() { c.receive() })
		short, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		require.ErrorIs(t, srv.WaitIdle(short), context.DeadlineExceeded, "the client does not wait for more")
		require.Equal(t, 3*time.Second, time.Since(start))
		time.Sleep(4 * time.Second)
		go func() { _, _ = c.nc.Read(make([]byte, 1)) }()
		require.NoError(t, srv.WaitIdle(t.Context()))
		require.Equal(t, 7*time.Second, time.Since(start))
		require.NoError(t, srv.Close())
		require.NoError(t, srv.WaitIdle(t.Context()), "there is nothing left")
	})
}

func TestEnsembleIsIdleWhenEverythingIsApplied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ens := StartEnsemble(t, 3)
		ens.Members()[0].Lag(time.Second)
		start := time.Now()
		require.NoError(t, ens.Leader().Create("/a", nil))
		require.NoError(t, ens.WaitIdle(t.Context()))
		require.Equal(t, time.Second, time.Since(start))
		ens.Partition(ens.Members()[0])
		require.NoError(t, ens.Leader().Create("/b", nil))
		time.AfterFunc(3*time.Second, ens.Heal)
		require.NoError(t, ens.WaitAgreement(t.Context()))
		require.Equal(t, 4*time.Second, time.Since(start))
		require.NoError(t, ens.Close())
	})
}

func TestQueue(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		require.NoError(t, srv.Create("/q/other", nil))
		require.NoError(t, srv.Create("/q/short-1", nil))
		require.NoError(t, srv.SetSequence("/q", 1<<31-2))
		var want []string
		add := func(prefix string) { want = append(want, c.create("/q/"+prefix, 3).body.String()) }
		add("z-")
		add("y-")
		body := c.call(wire.OpMulti,
			wire.OpCreate, "/q/x-", []byte(nil), datatree.OpenACL, 3, wire.OpCreate, "/q/c-", []byte(nil), datatree.OpenACL, 3,
			wire.OpCreate, "/q/a-", []byte(nil), datatree.OpenACL, 3, wire.OpError).body
		for range 3 {
			decodeMultiHeader(body)
			want = append(want, body.String())
		}
		add("m-")
		add("b-")
		require.Equal(t, []string{
			"/q/z-2147483646", "/q/y-2147483647", "/q/x-2147483647", "/q/c--2147483648", "/q/a--2147483647",
			"/q/m-2147483647", "/q/b-2147483647",
		}, want)
		var got []string
		for _, n := range srv.Queue("/q") {
			got = append(got, n.Path)
		}
		require.Equal(t, want, got)
		require.Nil(t, srv.Queue("/missing"))
	})
}
