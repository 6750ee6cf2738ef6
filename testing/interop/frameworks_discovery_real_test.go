//go:build real

package interop_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/discovery"
)

// requireSameBytes requires that we write what is in a node.
func (srv *testServer) requireSameBytes(t *testing.T, codec discovery.Codec, i discovery.Instance, path string) {
	t.Helper()
	data, _, err := srv.observer.Get(withDeadline(t), path)
	require.NoError(t, err)
	_, ours, err := codec.Encode(i)
	require.NoError(t, err)
	require.Equal(t, string(data), string(ours))
}

// Spring Cloud Zookeeper's own classes read what we write, and we read what they
// write.
func TestSpringAndWeReadEachOther(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, srv *testServer) {
		base, codec := lockPath(t), discovery.SpringCodec()
		// It is no container, which the server could delete while Java registers.
		_, err := srv.observer.Create(withDeadline(t), base+"/orders", nil, framework.WithPersistentParents())
		require.NoError(t, err)
		spring := startFramework(t, srv.addr, longSession)
		spring.must(t, "spring-open", base)
		d := srv.openDirectoryAs(t, base, codec, "orders", discovery.WithRemovalGrace(0))
		changes := readChanges(t, d)
		requireChanges(t, changes, "synced")
		requireSpring := func(want ...string) {
			t.Helper()
			require.ElementsMatch(t, want, spring.must(t, "spring-query", "orders"))
		}

		i := order("a1", "one")
		i.Metadata = map[string]string{"zone": "b"}
		ours := registerAs(t, srv.connect(t, longSession), base, codec, i)
		requireSpring("a1|one|8080|false|http://one:8080|instance_status=UP,zone=b")
		require.NoError(t, ours.Drain(withDeadline(t)))
		requireSpring("a1|one|8080|false|http://one:8080|instance_status=OUT_OF_SERVICE,zone=b")
		i.TLSPort = 8443
		require.NoError(t, ours.Update(withDeadline(t), i))
		requireSpring("a1|one|8443|true|https://one:8443|instance_status=UP,zone=b")
		i.Address, i.TLSPort, i.Metadata = "2001:db8::7", 0, nil
		require.NoError(t, ours.Update(withDeadline(t), i))
		requireSpring("a1|2001:db8::7|8080|false|http://[2001:db8::7]:8080|instance_status=UP")
		require.NoError(t, ours.Shutdown(withDeadline(t)))
		requireSpring()

		spring.must(t, "spring-register", "orders", "b1", "two", "8080", "instance_status=UP", "zone=c")
		require.NoError(t, d.WaitInstances(withDeadline(t), 1))
		theirs := d.Instances()[0]
		require.Equal(t, "b1", theirs.ID)
		require.Equal(t, "two", theirs.Address)
		require.Equal(t, 8080, theirs.Port)
		require.Equal(t, map[string]string{"instance_status": "UP", "zone": "c"}, theirs.Metadata)
		srv.requireSameBytes(t, codec, theirs, base+"/orders/b1")
		spring.must(t, "spring-status", "b1", "OUT_OF_SERVICE")
		require.NoError(t, waitUntil(t, d, func(s *discovery.Snapshot) bool { return len(s.Entries) == 1 && len(s.Instances()) == 0 }))
		spring.must(t, "spring-deregister", "b1")
		require.NoError(t, waitUntil(t, d, func(s *discovery.Snapshot) bool { return len(s.Entries) == 0 }))
	})
}

// waitUntil waits until a directory is as wanted.
func waitUntil(t *testing.T, d *discovery.Directory, right func(*discovery.Snapshot) bool) error {
	t.Helper()
	ctx := withDeadline(t)
	for ch, err := range d.Changes(ctx) {
		if err != nil {
			return err
		}
		if ch.Type != discovery.Interrupted && right(ch.Now) {
			return nil
		}
	}
	return ctx.Err()
}

// Dubbo's own classes read what we write at the level of applications, and we read
// what they write.
func TestDubboAndWeReadEachOther(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, srv *testServer) {
		base, codec := lockPath(t), discovery.DubboCodec()
		dubbo := startFramework(t, srv.addr, longSession)
		dubbo.must(t, "dubbo-open", base)
		d := srv.openDirectoryAs(t, base, codec, "shop")
		registerAs(t, srv.connect(t, longSession), base, codec, discovery.Instance{
			Service: "shop", Address: "10.0.0.7", Port: 20880, Metadata: map[string]string{"dubbo.metadata.revision": "0", "zone": "b"},
		})
		require.Equal(t, []string{"10.0.0.7|20880|true|dubbo.metadata.revision=0,zone=b"}, dubbo.must(t, "dubbo-query", "shop"))

		dubbo.must(t, "dubbo-register", "shop", "10.0.0.8", "20880", "dubbo.metadata.revision=1", "zone=c")
		require.NoError(t, d.WaitInstances(withDeadline(t), 2))
		theirs := d.Instances()[1]
		require.Equal(t, "10.0.0.8:20880", theirs.ID)
		require.Equal(t, "10.0.0.8", theirs.Address)
		require.Equal(t, 20880, theirs.Port)
		require.Equal(t, map[string]string{"dubbo.metadata.revision": "1", "zone": "c"}, theirs.Metadata)
		srv.requireSameBytes(t, codec, theirs, base+"/shop/10.0.0.8:20880")
		require.Equal(t, []string{
			"10.0.0.7|20880|true|dubbo.metadata.revision=0,zone=b",
			"10.0.0.8|20880|true|dubbo.metadata.revision=1,zone=c",
		}, dubbo.must(t, "dubbo-query", "shop"))
	})
}

// So it is at the level of interfaces, where the names of nodes are URLs.
func TestDubboAndWeReadEachOthersProviders(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, srv *testServer) {
		const service = "com.acme.OrderService"
		base, codec := lockPath(t), discovery.DubboInterfaceCodec("tri")
		dubbo := startFramework(t, srv.addr, longSession)
		d := srv.openDirectoryAs(t, base, codec, service)
		registerAs(t, srv.connect(t, longSession), base, codec, discovery.Instance{
			Service: service, Address: "2001:db8::7", Port: 50051, Metadata: map[string]string{"group": "blue", "version": "1.0.0"},
		})
		dubbo.must(t, "dubbo-provide", base, "tri://10.0.0.8:50051/com.acme.OrderService?group=green&interface=com.acme.OrderService&methods=get,put&version=2.0.0")
		require.NoError(t, d.WaitInstances(withDeadline(t), 2))
		require.ElementsMatch(t, []string{
			"tri|[2001:db8::7]|50051|com.acme.OrderService|blue|1.0.0",
			"tri|10.0.0.8|50051|com.acme.OrderService|green|2.0.0",
		}, dubbo.must(t, "dubbo-providers", base, service))
		for _, i := range d.Instances() {
			if i.Address != "10.0.0.8" {
				continue
			}
			require.Equal(t, 50051, i.Port)
			require.Equal(t, "green", i.Metadata["group"])
			name, _, err := codec.Encode(i)
			require.NoError(t, err)
			require.Equal(t, i.ID, name)
			return
		}
		t.Error("Dubbo's provider is not there")
	})
}
