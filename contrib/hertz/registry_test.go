package hertz_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/cloudwego/hertz/pkg/app/server/registry"
	"github.com/cloudwego/hertz/pkg/common/utils"
	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/contrib/hertz"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

const there = "/product/10.0.0.7:9999"

func TestRegisterReturnsWhenTheNodeIsThere(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server) {
		r := hertz.NewRegistry(start(t, srv).client)
		info := infoOf("10.0.0.7:9999")
		require.NoError(t, r.Register(info))
		node, ok := srv.Node(there)
		require.True(t, ok)
		require.NotZero(t, node.Stat.EphemeralOwner)
		require.NoError(t, r.Deregister(info))
		_, ok = srv.Node(there)
		require.False(t, ok)
		require.NoError(t, r.Deregister(info), "it is gone already")
		require.NoError(t, r.Deregister(infoOf("10.0.0.8:1")), "it was never there")
	})
}

// Another Register changes the node in place.
func TestRegisterAgainChangesTheNode(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server) {
		r := hertz.NewRegistry(start(t, srv).client)
		info := infoOf("10.0.0.7:9999")
		require.NoError(t, r.Register(info))
		before, _ := srv.Node(there)
		info.Weight, info.Tags = 3, map[string]string{"group": "blue"}
		require.NoError(t, r.Register(info))
		after, _ := srv.Node(there)
		require.Equal(t, `{"Weight":3,"Tags":{"group":"blue"}}`, string(after.Data))
		require.Equal(t, before.Stat.Czxid, after.Stat.Czxid)
		require.NoError(t, r.Deregister(info))
		require.NoError(t, r.Register(info))
		require.Equal(t, string(after.Data), nodeOf(t, srv, there))
	})
}

// What is deregistered stays gone, also if that happens in an outage, of which
// hertz hears nothing.
func TestDeregisteredStaysGone(t *testing.T) {
	for name, outage := range map[string]bool{"connected": false, "in an outage": true} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, srv *zktest.Server) {
				p := start(t, srv)
				r := hertz.NewRegistry(p.client)
				info := infoOf("10.0.0.7:9999")
				require.NoError(t, r.Register(info))
				if outage {
					p.host.Disconnect()
				}
				began := time.Now()
				require.NoError(t, r.Deregister(info))
				require.LessOrEqual(t, time.Since(began), 2*time.Second)
				p.host.Heal()
				time.Sleep(time.Minute)
				require.Empty(t, srv.Children("/product"))
				require.True(t, p.host.LoseSessions())
				time.Sleep(5 * time.Minute)
				require.Empty(t, srv.Children("/product"))
				require.NoError(t, r.Register(info))
				require.NotEmpty(t, srv.Children("/product"))
			})
		})
	}
}

// Register says why the node is not there, and nothing goes on then.
func TestRegisterSaysWhyNot(t *testing.T) {
	t.Run("outage", func(t *testing.T) {
		inVirtualTime(t, func(t *testing.T, srv *zktest.Server) {
			p := startCutOff(t, srv)
			err := hertz.NewRegistry(p.client).Register(infoOf("10.0.0.7:9999"))
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.ErrorIs(t, err, framework.ErrNotConnected)
			require.ErrorContains(t, err, "zookeeper: register: ")
			require.ErrorContains(t, err, "no route to host")
			p.host.Heal()
			time.Sleep(5 * time.Minute)
			require.Empty(t, srv.Children("/product"))
		})
	})
	t.Run("outage that ends", func(t *testing.T) {
		inVirtualTime(t, func(t *testing.T, srv *zktest.Server) {
			p := startCutOff(t, srv)
			time.AfterFunc(20*time.Second, p.host.Heal)
			require.NoError(t, hertz.NewRegistry(p.client).Register(infoOf("10.0.0.7:9999")))
			require.NotEmpty(t, srv.Children("/product"))
		})
	})
	t.Run("refusal", func(t *testing.T) {
		inVirtualTime(t, func(t *testing.T, srv *zktest.Server) {
			p := start(t, srv)
			require.NoError(t, srv.Create("/product", nil))
			_, err := p.client.SetACL(t.Context(), "/product", zk.WorldACL(zk.PermRead), -1)
			require.NoError(t, err)
			r, began := hertz.NewRegistry(p.client), time.Now()
			require.ErrorIs(t, r.Register(infoOf("10.0.0.7:9999")), zk.ErrNoAuth)
			require.Less(t, time.Since(began), time.Second)
			require.ErrorIs(t, r.Register(infoOf("10.0.0.7:9999")), zk.ErrNoAuth, "it is tried again")
		})
	})
	t.Run("closed client", func(t *testing.T) {
		inVirtualTime(t, func(t *testing.T, srv *zktest.Server) {
			p := start(t, srv)
			r := hertz.NewRegistry(p.client)
			require.NoError(t, r.Register(infoOf("10.0.0.7:9999")))
			require.NoError(t, p.client.Close())
			require.NoError(t, r.Deregister(infoOf("10.0.0.7:9999")))
			require.ErrorIs(t, r.Register(infoOf("10.0.0.7:9999")), framework.ErrClosed)
		})
	})
}

// Zeros before a port make no other instance.
func TestPortIsANumber(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server) {
		r := hertz.NewRegistry(start(t, srv).client)
		require.NoError(t, r.Register(infoOf("10.0.0.7:9999")))
		require.NoError(t, r.Register(infoOf("10.0.0.7:09999")))
		require.Equal(t, []string{"10.0.0.7:9999"}, srv.Children("/product"))
		require.NoError(t, r.Deregister(infoOf("10.0.0.7:009999")))
		require.Empty(t, srv.Children("/product"))
	})
}

func TestInfosThatCannotBeUsed(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server) {
		r := hertz.NewRegistry(start(t, srv).client)
		var none *net.TCPAddr
		for name, info := range map[string]*registry.Info{
			"nil":        nil,
			"no address": {ServiceName: "product"},
			"nil TCP":    {ServiceName: "product", Addr: none},
			"a socket":   {ServiceName: "product", Addr: utils.NewNetAddr("unix", "/run/product")},
			"a name":     infoOf("10.0.0.7:http"),
			"port 0":     infoOf("10.0.0.7:0"),
			"no service": {Addr: utils.NewNetAddr("tcp", "10.0.0.7:9999")},
			"slashes":    {ServiceName: "a//b", Addr: utils.NewNetAddr("tcp", "10.0.0.7:9999")},
		} {
			require.Error(t, r.Register(info), name)
		}
		require.Error(t, r.Deregister(nil))
		err := r.WithLocalIP(utils.UNKNOWN_IP_ADDR).Register(infoOf(":9999"))
		require.ErrorContains(t, err, "this machine has no address that other machines can dial")
		require.ErrorIs(t, hertz.NewRegistry(nil).Register(infoOf("10.0.0.7:9999")), zk.ErrBadArguments)
	})
}

// Every call of a Registry that NewRegistry has not made is an error.
func TestZeroRegistryCannotBeUsed(t *testing.T) {
	var r hertz.Registry
	for _, address := range []string{":9999", "10.0.0.7:9999"} {
		for _, err := range []error{r.Register(infoOf(address)), r.Deregister(infoOf(address))} {
			require.ErrorIs(t, err, zk.ErrBadArguments)
			require.ErrorContains(t, err, "must be made by NewRegistry")
		}
	}
}
