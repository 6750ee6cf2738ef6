package grpcresolver_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gocurator/curator/contrib/grpcresolver"
	"github.com/gocurator/curator/recipes/discovery"
)

// dial returns a channel to the backends of a network.
func dial(t *testing.T, n *network, b *grpcresolver.Builder, target string, opts ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(target, append([]grpc.DialOption{
		grpc.WithResolvers(b), grpc.WithContextDialer(n.dial),
		grpc.WithTransportCredentials(ca().trusted()), grpc.WithDefaultServiceConfig(balanced),
	}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	return conn
}

// everyone returns who answers a hundred calls, none of which may fail.
func everyone(t *testing.T, conn *grpc.ClientConn) map[string]bool {
	t.Helper()
	answers := map[string]bool{}
	for range 100 {
		name, err := ask(t.Context(), conn)
		require.NoError(t, err)
		answers[name] = true
	}
	return answers
}

// connected is everyone in a bubble, once the channel has all its connections.
func connected(t *testing.T, conn *grpc.ClientConn) map[string]bool {
	t.Helper()
	conn.Connect()
	synctest.Wait()
	return everyone(t, conn)
}

const here, there = "10.0.0.7:1", "10.0.0.7:2"

// An outage at the start fails calls at once, and names the cause. Those that
// wait succeed when it is over.
func TestOutageAtTheStart(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		var n network
		n.serve(t, here, "orders")
		w.put(t, replica("a", 1))
		host := w.Fake.NewHost()
		host.Disconnect()
		conn := dial(t, &n, w.from(t, host), orders)
		began := time.Now()
		_, err := ask(t.Context(), conn)
		require.Equal(t, codes.Unavailable, status.Code(err))
		require.ErrorContains(t, err, `service "orders" below "/services": ZooKeeper: not connected`)
		require.Less(t, time.Since(began), 2*time.Second)
		waits := make(chan error, 1)
		go func() {
			_, err := ask(t.Context(), conn, grpc.WaitForReady(true))
			waits <- err
		}()
		synctest.Wait()
		require.Empty(t, waits)
		host.Heal()
		require.NoError(t, <-waits)
	})
}

// A changed label, and the flicker of a registrant in Java, make no connection.
func TestChangesThatMakeNoConnection(t *testing.T) {
	for policy, config := range map[string]string{"pick_first": "{}", "round_robin": balanced} {
		t.Run(policy, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				var n network
				n.serve(t, here, "orders")
				n.serve(t, there, "orders")
				w.put(t, replica("a", 1))
				w.put(t, replica("b", 2))
				conn := dial(t, &n, w.builder(), orders, grpc.WithDefaultServiceConfig(config))
				connected(t, conn)
				dials := n.dials.Load()
				for i := range 10 {
					changed := replica("a", 1)
					changed.Metadata = map[string]string{"round": string(rune('a' + i))}
					w.put(t, changed)
					synctest.Wait()
					w.remove(t, "b")
					synctest.Wait()
					w.put(t, replica("b", 2))
					synctest.Wait()
					connected(t, conn)
				}
				require.Equal(t, dials, n.dials.Load())
			})
		})
	}
}

// A backend that is killed costs no call that the retry policy can save. It is
// gone when its session is over.
func TestKilledBackend(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		var n network
		n.serve(t, here, "orders")
		kill := n.serve(t, there, "orders")
		w.put(t, replica("a", 1))
		its, network := w.Connect(t)
		r, err := discovery.NewRegistration(its, base, discovery.SpringCodec(), replica("b", 2))
		require.NoError(t, err)
		_, err = r.WaitRegistered(w.Patience(t))
		require.NoError(t, err)
		conn := dial(t, &n, w.builder(), orders)
		require.Equal(t, map[string]bool{here: true, there: true}, connected(t, conn))

		network.Refuse(true)
		network.Cut()
		kill()
		require.Equal(t, map[string]bool{here: true}, connected(t, conn))
		time.Sleep(w.Session + 3*time.Second)
		synctest.Wait()
		require.NotContains(t, w.Fake.Children(base+"/orders"), "b")
		dials := n.dials.Load()
		time.Sleep(time.Hour)
		require.Equal(t, dials, n.dials.Load(), "nobody tries to connect any more")
	})
}

// An instance that drains gets no further call, and finishes its own. All stays
// as it is in an outage of ZooKeeper.
func TestDrainAndOutage(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		var n network
		n.serve(t, here, "orders")
		n.serve(t, there, "orders")
		w.put(t, replica("a", 1))
		w.put(t, replica("b", 2))
		host := w.Fake.NewHost()
		conn := dial(t, &n, w.from(t, host), orders)
		require.Len(t, connected(t, conn), 2)
		drains := replica("b", 2)
		drains.Disabled = true
		w.put(t, drains)
		synctest.Wait()
		require.Equal(t, map[string]bool{here: true}, connected(t, conn))
		host.Disconnect()
		w.remove(t, "a")
		time.Sleep(10 * time.Minute)
		require.Equal(t, map[string]bool{here: true}, connected(t, conn))
	})
}

// A channel that is idle holds nothing. It comes back with the next call.
func TestIdleChannelComesBack(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		var n network
		n.serve(t, here, "orders")
		w.put(t, replica("a", 1))
		conn := dial(t, &n, w.builder(), orders, grpc.WithIdleTimeout(time.Minute))
		connected(t, conn)
		require.Len(t, w.Fake.Watches(), 1)
		time.Sleep(3 * time.Minute)
		synctest.Wait()
		require.Empty(t, w.Fake.Watches())
		w.Fake.ClearRequests()
		connected(t, conn)
		require.LessOrEqual(t, len(w.Requests()), 5, "%v", w.Requests())
		require.NoError(t, conn.Close())
		w.NoWatches(t)
	})
}

// TLS verifies the name of the service, whatever the path before it. A server
// with another name is refused, though the registry has sent us there.
func TestTLSVerifiesTheService(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		var n network
		n.serve(t, here, "orders")
		n.serve(t, there, "evil")
		w.put(t, discovery.Instance{Service: "eu/shop/orders", ID: "a", Address: "10.0.0.7", Port: 1})
		w.put(t, discovery.Instance{Service: "bills", ID: "a", Address: "10.0.0.7", Port: 2})
		b := w.builder()
		require.Len(t, connected(t, dial(t, &n, b, "zookeeper:///services/eu/shop/orders")), 1)
		_, err := ask(t.Context(), dial(t, &n, b, "zookeeper:///services/bills"))
		require.ErrorContains(t, err, "valid for evil, not bills")
	})
}

func TestIPv6Address(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		var n network
		n.serve(t, "[2001:db8::7]:50051", "orders")
		w.put(t, discovery.Instance{Service: "orders", ID: "a", Address: "2001:db8::7", Port: 50051})
		require.Len(t, connected(t, dial(t, &n, w.builder(), orders)), 1)
	})
}

// Calls to a service without an instance fail at once, and say so.
func TestCallWithoutInstances(t *testing.T) {
	for policy, config := range map[string]string{"pick_first": "{}", "round_robin": balanced} {
		t.Run(policy, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				var n network
				conn := dial(t, &n, w.builder(), orders, grpc.WithDefaultServiceConfig(config))
				_, err := ask(t.Context(), conn)
				require.ErrorContains(t, err, "no instance is registered")
				n.serve(t, here, "orders")
				w.put(t, replica("a", 1))
				synctest.Wait()
				require.Len(t, connected(t, conn), 1)
			})
		})
	}
}

// The service config of the service's node balances, if the Builder allows
// that.
func TestServiceConfigOfTheNodeBalances(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		var n network
		n.serve(t, here, "orders")
		n.serve(t, there, "orders")
		w.put(t, replica("a", 1))
		w.put(t, replica("b", 2))
		require.NoError(t, w.Fake.Set(base+"/orders", []byte(balanced)))
		pickFirst := grpc.WithDefaultServiceConfig("{}")
		require.Len(t, connected(t, dial(t, &n, w.builder(), orders, pickFirst)), 1)
		b := w.builder(grpcresolver.WithServiceConfig())
		require.Len(t, connected(t, dial(t, &n, b, orders, pickFirst)), 2)
		require.Len(t, connected(t, dial(t, &n, b, orders, pickFirst, grpc.WithDisableServiceConfig())), 1)
	})
}
