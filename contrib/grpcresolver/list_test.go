package grpcresolver_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/resolver"

	"github.com/gocurator/curator/contrib/grpcresolver"
	"github.com/gocurator/curator/recipes/discovery"
)

// A channel receives each change once. An instance that drains is left out at once, and
// an instance whose node is gone after the grace.
func TestChannelFollowsAService(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		w.put(t, replica("a", 1))
		c := channel(t, w.builder(), orders)
		require.Equal(t, []string{"state 10.0.0.7:1"}, c.news())
		w.put(t, replica("b", 2))
		require.Equal(t, []string{"state 10.0.0.7:1 10.0.0.7:2"}, c.news())
		drains := replica("a", 1)
		drains.Disabled = true
		w.put(t, drains)
		require.Equal(t, []string{"state 10.0.0.7:2"}, c.news())
		w.put(t, replica("a", 1))
		require.Equal(t, []string{"state 10.0.0.7:1 10.0.0.7:2"}, c.news())
		w.remove(t, "b")
		require.Empty(t, c.news())
		passGrace()
		require.Equal(t, []string{"state 10.0.0.7:1"}, c.news())
		require.NoError(t, w.Fake.Create(base+"/orders/bad", []byte("garbage")))
		require.Empty(t, c.news(), "it spoils nothing")
	})
}

// What an instance says is in the attributes of its endpoint, and nothing of it
// in its address.
func TestLabelsAreInTheEndpoint(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		i := replica("a", 1)
		i.Metadata = map[string]string{"version": "1"}
		w.put(t, i)
		c := channel(t, w.builder(), orders)
		before := c.last(t).Endpoints[0]
		require.Equal(t, "1", grpcresolver.InstanceOf(before).Metadata["version"])
		i.Metadata["version"] = "2"
		w.put(t, i)
		after := c.last(t).Endpoints[0]
		require.Equal(t, "2", grpcresolver.InstanceOf(after).Metadata["version"])
		require.Equal(t, []resolver.Address{{Addr: "10.0.0.7:1"}}, after.Addresses)
		require.True(t, before.Addresses[0].Equal(after.Addresses[0]))
		require.Equal(t, after.Addresses, c.last(t).Addresses, "for balancers that know no endpoints")
		require.Nil(t, grpcresolver.InstanceOf(resolver.Endpoint{}))
	})
}

// Each channel has a different order, so that not all begin with the same instance. A
// channel keeps its order.
func TestOrderOfAChannel(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		const n = 20
		for i := range n {
			w.put(t, replica(fmt.Sprint("i", i), 1+i))
		}
		b := w.builder()
		c, other := channel(t, b, orders), channel(t, b, orders)
		before := addresses(c.last(t))
		require.Len(t, before, n)
		require.NotEqual(t, before, addresses(other.last(t)))
		w.put(t, replica("new", 100))
		w.remove(t, "i0")
		passGrace()
		var kept []string
		for _, a := range addresses(c.last(t)) {
			if a != "10.0.0.7:100" {
				kept = append(kept, a)
			}
		}
		require.Subset(t, before, kept)
		at := -1
		for _, a := range kept {
			next := indexOf(before, a)
			require.Greater(t, next, at, "the order of those that stay is the same")
			at = next
		}
	})
}

func indexOf(list []string, text string) int {
	for i, t := range list {
		if t == text {
			return i
		}
	}
	return -1
}

// The parameter port names the TLS port, a label, or an endpoint of a
// serverset.
func TestPorts(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		i := replica("a", 1)
		i.TLSPort, i.Metadata = 2, map[string]string{"grpc": "3", "bad": "x", "large": "65536"}
		w.put(t, i)
		w.putAs(t, discovery.ServersetCodec(), discovery.Instance{
			Service: "set", ID: "member_1", Address: "10.0.0.8", Port: 1,
			Payload: []byte(`{"additionalEndpoints":{
				"grpc": {"host":"10.0.0.9","port":4}, "six": {"host":"[2001:db8::7]","port":"5"},
				"bad": {"host":"10.0.0.9","port":"x"}, "text": "10.0.0.9:6"}}`),
		})
		b := w.builder()
		for target, told := range map[string]string{
			orders:                "state 10.0.0.7:1",
			orders + "?port=ssl":  "state 10.0.0.7:2",
			orders + "?port=grpc": "state 10.0.0.7:3",
			"zookeeper:///services/set?codec=serverset":           "state 10.0.0.8:1",
			"zookeeper:///services/set?codec=serverset&port=grpc": "state 10.0.0.9:4",
			"zookeeper:///services/set?codec=serverset&port=six":  "state [2001:db8::7]:5",
		} {
			require.Equal(t, []string{told}, channel(t, b, target).news(), target)
		}
		for target, ports := range map[string][]string{
			orders + "?": {"bad", "large", "none"},
			"zookeeper:///services/set?codec=serverset&": {"bad", "text", "none"},
		} {
			for _, port := range ports {
				require.Contains(t, channel(t, b, target+"port="+port).news()[0],
					fmt.Sprintf("without a host or a port %q to dial: 1", port))
			}
		}
	})
}

// An IPv6 address gets brackets. What is no name of a host is not dialed.
func TestAddresses(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		for id, address := range map[string]string{
			"a": "2001:db8::7", "b": "web-1.example_2.org", "c": "unix", "d": "/tmp/socket", "e": "a b", "f": "10.0.0.7",
		} {
			w.put(t, discovery.Instance{Service: "orders", ID: id, Address: address, Port: 80})
		}
		c := channel(t, w.builder(), orders)
		require.Equal(t, []string{"state 10.0.0.7:80 [2001:db8::7]:80 web-1.example_2.org:80"}, c.news())
	})
}

// One IPv6 address is one address, in whatever way it is written. Its zone is the
// name of an interface, and no text of a stranger.
func TestIPv6AddressIsToldOnce(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		for id, address := range map[string]string{
			"a": "2001:db8::7", "b": "2001:DB8:0::7", "c": "fe80::1%eth0", "d": `fe80::1%a]:5`, "e": `fe80::1%a\n`,
		} {
			require.NoError(t, w.Fake.Create(base+"/orders/"+id, []byte(`{"address":"`+address+`","port":80}`)))
		}
		c := channel(t, w.builder(), orders)
		require.Equal(t, []string{"state [2001:db8::7]:80 [fe80::1%eth0]:80"}, c.news())
	})
}

// The zone comes first, until less than half of its instances can be used.
func TestZone(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		in := func(id string, port int, zone string) discovery.Instance {
			i := replica(id, port)
			i.Metadata = map[string]string{"zone": zone}
			return i
		}
		w.put(t, in("a", 1, "x"))
		w.put(t, in("b", 2, "x"))
		w.put(t, in("c", 3, "x"))
		w.put(t, in("d", 4, "y"))
		b := w.builder()
		c := channel(t, b, orders+"?zone=x")
		require.Equal(t, []string{"state 10.0.0.7:1 10.0.0.7:2 10.0.0.7:3"}, c.news())
		require.Len(t, channel(t, b, orders+"?zone=none").last(t).Endpoints, 4)
		drains := in("a", 1, "x")
		drains.Disabled = true
		w.put(t, drains)
		require.Equal(t, []string{"state 10.0.0.7:2 10.0.0.7:3"}, c.news())
		drains = in("b", 2, "x")
		drains.Disabled = true
		w.put(t, drains)
		require.Equal(t, []string{"state 10.0.0.7:3 10.0.0.7:4"}, c.news())
	})
}

// A process has crashed and has started again at its address, with another ID, and it
// still drains. The node of the crashed one says otherwise until its session is over.
func TestNewestNodeOfAnAddressSpeaks(t *testing.T) {
	for _, ids := range [][2]string{{"a", "b"}, {"b", "a"}} {
		inVirtualTime(t, func(t *testing.T, w *world) {
			w.put(t, replica(ids[0], 1)) // the crashed process's
			c := channel(t, w.builder(), orders)
			require.Equal(t, []string{"state 10.0.0.7:1"}, c.news())
			again := replica(ids[1], 1)
			again.Disabled = true
			w.put(t, again)
			require.Equal(t, "state", c.news()[0])
			again.Disabled = false
			w.put(t, again)
			require.Equal(t, []string{"state 10.0.0.7:1"}, c.news())
		})
	}
}

// An instance of Spring's that is out of service gets no calls, also with the default
// format, which reads its node.
func TestSpringOutOfServiceWithTheDefaultFormat(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		up, out := replica("a", 1), replica("b", 2)
		out.Disabled = true
		w.putAs(t, discovery.SpringCodec(), up)
		w.putAs(t, discovery.SpringCodec(), out)
		c := channel(t, grpcresolver.NewBuilder(w.Observer), orders)
		require.Equal(t, []string{"state 10.0.0.7:1"}, c.news())
	})
}
