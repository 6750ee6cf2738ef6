package grpcresolver_test

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/resolver"

	"github.com/gocurator/curator/contrib/grpcresolver"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/testing/zktest"
)

// from returns a Builder of a client on a separate host.
func (w *world) from(t *testing.T, host *zktest.Host, opts ...grpcresolver.Option) *grpcresolver.Builder {
	t.Helper()
	c, err := framework.New(w.Addr, framework.WithDialer(host.Dialer()), framework.WithSessionTimeout(w.Session))
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	opts = append([]grpcresolver.Option{grpcresolver.WithCodec("curator", discovery.SpringCodec())}, opts...)
	return grpcresolver.NewBuilder(c, opts...)
}

// settle lets a resolver look again, which does not take it as long as to give
// a connection up.
func settle() {
	time.Sleep(200 * time.Millisecond)
	synctest.Wait()
}

// Without a connection from the beginning, the channel hears why at once. It
// gets the list with the connection.
func TestOutageAtTheStartIsReported(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		w.put(t, replica("a", 1))
		host := w.Fake.NewHost()
		host.Disconnect()
		c := channel(t, w.from(t, host), orders)
		settle()
		news := c.news()
		require.Len(t, news, 1)
		require.Contains(t, news[0], `zookeeper: service "orders" below "/services": ZooKeeper: `)
		require.Contains(t, news[0], "last attempt: ")
		require.Contains(t, news[0], "(since ")
		host.Heal()
		time.Sleep(time.Minute)
		require.Equal(t, []string{"10.0.0.7:1"}, addresses(c.last(t)))
	})
}

// The first call after framework.New is no failure, also if the connection is still
// being made, or a server of several is down.
func TestStartThatIsConnecting(t *testing.T) {
	for name, dial := range map[string]struct {
		takes time.Duration
		down  bool
	}{"far away": {300 * time.Millisecond, false}, "one server is down": {20 * time.Millisecond, true}} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				w.put(t, replica("a", 1))
				host, isDown := w.Fake.NewHost(), dial.down
				dialer := func(ctx context.Context, network, address string) (net.Conn, error) {
					if isDown {
						isDown = false
						return nil, errRefused
					}
					time.Sleep(dial.takes)
					return host.Dialer()(ctx, network, w.Addr)
				}
				client, err := framework.New("10.0.0.1:2181,10.0.0.2:2181", framework.WithDialer(dialer))
				require.NoError(t, err)
				t.Cleanup(func() { client.Close() })
				synctest.Wait()
				time.Sleep(5 * time.Millisecond)
				b := grpcresolver.NewBuilder(client, grpcresolver.WithCodec("curator", discovery.SpringCodec()))
				c := channel(t, b, orders)
				passGrace()
				require.Equal(t, []string{"state 10.0.0.7:1"}, c.news())
			})
		})
	}
}

// In an outage, a channel keeps its list, including instances that leave meanwhile. The
// channel is notified of the outage, and receives the list again when the list is up to
// date.
//
// Promise: A channel keeps its addresses during an outage.
func TestOutageKeepsTheList(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		w.put(t, replica("a", 1))
		w.put(t, replica("b", 2))
		host := w.Fake.NewHost()
		c := channel(t, w.from(t, host), orders)
		require.Equal(t, []string{"state 10.0.0.7:1 10.0.0.7:2"}, c.news())
		host.Disconnect()
		w.remove(t, "a")
		settle()
		require.Empty(t, c.news(), "it may be short")
		time.Sleep(time.Minute)
		news := c.news()
		require.NotEmpty(t, news)
		for _, line := range news {
			require.Contains(t, line, "with a list of 2 that may be old")
		}
		host.Heal()
		time.Sleep(time.Minute)
		news = c.news()
		require.Equal(t, "state 10.0.0.7:2", news[len(news)-1])
	})
}

// A short interruption, of which nothing is left, is not told.
func TestShortInterruptionIsNotTold(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		w.put(t, replica("a", 1))
		client, network := w.Connect(t)
		b := grpcresolver.NewBuilder(client, grpcresolver.WithCodec("curator", discovery.SpringCodec()))
		c := channel(t, b, orders)
		require.Len(t, c.news(), 1)
		for range 10 {
			network.Cut()
			require.NoError(t, client.WaitConnected(w.Patience(t)))
			settle()
		}
		passGrace()
		require.Empty(t, c.news())
	})
}

// A service without an instance is an error, and no empty list, while the
// channel has never had an instance. Later, the list is empty, and the error
// follows.
func TestServiceWithoutInstances(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		const none = `zookeeper: service "orders" below "/services": no instance`
		c := channel(t, w.builder(), orders)
		require.Equal(t, []string{none + " is registered"}, c.news())
		drains := replica("a", 1)
		drains.Disabled = true
		w.put(t, drains)
		require.Equal(t, []string{none + " to call: draining: 1"}, c.news())
		require.NoError(t, w.Fake.Create(base+"/orders/bad", []byte("garbage")))
		news := c.news()
		require.Len(t, news, 1)
		require.Contains(t, news[0], none+` to call: draining: 1, malformed: 1, such as "/services/orders/bad": `)
		w.put(t, replica("a", 1))
		require.Equal(t, []string{"state 10.0.0.7:1"}, c.news())
		w.put(t, drains)
		news = c.news()
		require.Len(t, news, 2)
		require.Equal(t, "state", news[0])
		require.Contains(t, news[1], none+" to call: draining: 1")
	})
}

// A refusal to read is told to each channel of a service, and the list when it may
// be read. No event tells of that. The channels share the attempts until then.
func TestRefusalIsReported(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		w.put(t, replica("a", 1))
		client, _ := w.Connect(t)
		var refused []*zktest.Injection
		for _, op := range []zktest.Op{zkinside.OpGetChildren2, zkinside.OpMultiRead, zktest.OpGetData} {
			rule := zktest.Rule{Optional: true, Op: op, Session: client.SessionID(), Times: -1, Do: zktest.Fail(zktest.ErrNoAuth)}
			refused = append(refused, w.Fake.Inject(rule))
		}
		b := grpcresolver.NewBuilder(client, grpcresolver.WithServiceConfig(),
			grpcresolver.WithCodec("curator", discovery.SpringCodec()))
		all := []*conn{channel(t, b, orders), channel(t, b, orders), channel(t, b, orders)}
		w.Fake.ClearRequests()
		time.Sleep(2 * time.Minute)
		require.LessOrEqual(t, len(w.Requests()), 30, "two caches, with pauses of up to half a minute")
		for _, c := range all {
			news := c.news()
			require.NotEmpty(t, news)
			for _, line := range news {
				require.Contains(t, line, "not authenticated")
			}
		}
		for _, r := range refused {
			r.Remove()
		}
		time.Sleep(30 * time.Second)
		for _, c := range all {
			require.Equal(t, []string{"state 10.0.0.7:1"}, c.news())
			c.close()
		}
		w.NoWatches(t)
	})
}

// A closed client is reported, and no error of Build.
func TestClosedClientIsReported(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		w.put(t, replica("a", 1))
		client, _ := w.Connect(t)
		b := grpcresolver.NewBuilder(client, grpcresolver.WithCodec("curator", discovery.SpringCodec()))
		c := channel(t, b, orders)
		require.Len(t, c.news(), 1)
		require.NoError(t, client.Close())
		passGrace()
		news := c.news()
		require.Len(t, news, 1)
		require.Contains(t, news[0], "closed")
		late := channel(t, b, orders)
		require.Contains(t, late.news()[0], "closed")
		late.close()
	})
}

// Channels of one service share a directory, which has one watch. The last one
// to close takes it away.
func TestChannelsShareADirectory(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		w.put(t, replica("a", 1))
		w.put(t, discovery.Instance{Service: "bills", ID: "a", Address: "10.0.0.8", Port: 1})
		b := w.builder()
		one := channel(t, b, orders)
		require.Len(t, one.news(), 1)
		w.Fake.ClearRequests()
		two := channel(t, b, orders+"?port=ssl")
		require.Contains(t, two.news()[0], "no instance")
		same := channel(t, b, orders+"?codec=curator")
		require.Len(t, same.news(), 1)
		same.close()
		require.Empty(t, w.Requests())
		other := channel(t, b, "zookeeper:///services/bills")
		require.Len(t, other.news(), 1)
		require.Len(t, w.Fake.Watches(), 2)
		one.close()
		other.close()
		w.put(t, replica("b", 2))
		require.Contains(t, two.news()[0], "to dial: 2")
		require.Len(t, w.Fake.Watches(), 1)
		two.close()
		w.NoWatches(t)
		again := channel(t, b, orders) // as a channel that was idle
		require.Equal(t, []string{"state 10.0.0.7:1 10.0.0.7:2"}, again.news())
		again.close()
		w.NoWatches(t)
	})
}

// The data of the service's node are a service config only on request.
func TestServiceConfig(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		w.put(t, replica("a", 1))
		require.NoError(t, w.Fake.Set(base+"/orders", []byte(`{"a":1}`)))
		config := func(c *conn) any {
			if s := c.last(t).ServiceConfig; s != nil {
				return s.Config.(parsed).text
			}
			return nil
		}
		require.Nil(t, config(channel(t, w.builder(), orders)))
		b := w.builder(grpcresolver.WithServiceConfig())
		require.Nil(t, config(channel(t, b, orders, resolver.BuildOptions{DisableServiceConfig: true})))
		c := channel(t, b, orders)
		require.Equal(t, `{"a":1}`, config(c))
		require.Equal(t, []string{"state 10.0.0.7:1"}, c.news(), "it comes with the first list")

		require.NoError(t, w.Fake.Set(base+"/orders", []byte(`{"a":2}`)))
		require.Equal(t, []string{"state 10.0.0.7:1"}, c.news())
		require.Equal(t, `{"a":2}`, config(c))
		require.NoError(t, w.Fake.Set(base+"/orders", []byte("10.0.0.7")))
		news := c.news()
		require.Len(t, news, 1)
		require.Contains(t, news[0], "data of the service's node: no object")
		w.put(t, replica("b", 2))
		require.Equal(t, "state 10.0.0.7:1 10.0.0.7:2", c.news()[0])
		require.Equal(t, `{"a":2}`, config(c), "the last good one is in force")
		require.NoError(t, w.Fake.Set(base+"/orders", nil))
		c.news()
		require.Nil(t, config(c))
		c.close()
	})
}
