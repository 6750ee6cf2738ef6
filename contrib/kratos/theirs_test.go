package kratos_test

import (
	"context"
	"encoding/json"
	"net"
	"path"
	"testing"
	"time"

	"github.com/go-kratos/kratos/v2/registry"
	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	zookeeper "github.com/gocurator/curator/contrib/kratos"

	"github.com/gocurator/curator/internal/zkinside"
)

// old is a process with kratos's own registry, as far as its requests go.
type old struct {
	conn *zk.Conn
	root string
}

func (w *world) old(t *testing.T, root string) old {
	t.Helper()
	dial := func(network, address string, timeout time.Duration) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		defer cancel()
		return w.Dial(ctx, network, address)
	}
	conn, _, err := zk.Connect([]string{w.Addr}, w.Session, zk.WithDialer(dial), zk.WithLogInfo(false))
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	return old{conn, root}
}

// register makes the nodes that its Register makes.
func (o old) register(t *testing.T, i *registry.ServiceInstance) {
	t.Helper()
	for _, p := range []string{o.root, path.Join(o.root, i.Name)} {
		there, _, err := o.conn.Exists(p)
		require.NoError(t, err)
		if !there {
			_, err := o.conn.Create(p, []byte(""), 0, zk.WorldACL(zk.PermAll))
			require.NoError(t, err)
		}
	}
	data, err := json.Marshal(i)
	require.NoError(t, err)
	_, err = o.conn.Create(path.Join(o.root, i.Name, i.ID), data, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)
}

// read reads what its watcher reads, and fails as that does.
func (o old) read(t *testing.T, service string) (list []*registry.ServiceInstance, changed <-chan zk.Event) {
	t.Helper()
	dir := path.Join(o.root, service)
	names, _, changed, err := o.conn.ChildrenW(dir)
	require.NoError(t, err)
	for _, name := range names {
		data, _, err := o.conn.Get(path.Join(dir, name))
		require.NoError(t, err)
		var i *registry.ServiceInstance
		require.NoError(t, json.Unmarshal(data, &i))
		if i.Name == service {
			list = append(list, i)
		}
	}
	return list, changed
}

// A process with kratos's own registry finds instances of this package and receives
// their changes, and the other way round.
func TestOldAndNewFindEachOther(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		const root = "/TestOldAndNewFindEachOther"
		p, theirs := w.process(t, zookeeper.WithRootPath(root)), w.old(t, root)
		watcher := w.watch(t, p)
		require.Empty(t, next(t, watcher))

		theirs.register(t, replica("theirs"))
		require.Equal(t, []string{"theirs"}, next(t, watcher))
		list, changed := theirs.read(t, "orders")
		require.Equal(t, []*registry.ServiceInstance{replica("theirs")}, list)

		require.NoError(t, p.Register(w.Patience(t), replica("ours")))
		require.Equal(t, zk.EventNodeChildrenChanged, (<-changed).Type)
		list, changed = theirs.read(t, "orders")
		require.ElementsMatch(t, []*registry.ServiceInstance{replica("ours"), replica("theirs")}, list)
		require.Equal(t, []string{"ours", "theirs"}, next(t, watcher))

		require.NoError(t, p.Deregister(w.Patience(t), replica("theirs")))
		require.NoError(t, p.Deregister(w.Patience(t), replica("ours")))
		require.Equal(t, zk.EventNodeChildrenChanged, (<-changed).Type)
		list, _ = theirs.read(t, "orders")
		require.Equal(t, []string{"theirs"}, ids(list), "ours deletes no other's")
		require.Equal(t, []string{"theirs"}, next(t, watcher))
		theirs.conn.Close()
		require.Empty(t, next(t, watcher))
	})
}

// The bytes are those that kratos's own registry writes: encoding/json's of a
// registry.ServiceInstance.
func TestBytesAreTheirs(t *testing.T) {
	for data, i := range map[string]*registry.ServiceInstance{
		`{"id":"1","name":"hello","version":"v1.0.0","metadata":null,"endpoints":["127.0.0.1:8080"]}`: {
			ID: "1", Name: "hello", Version: "v1.0.0", Endpoints: []string{"127.0.0.1:8080"},
		},
		`{"id":"a b","name":"shop/orders","version":"","metadata":{"a":"\u003c\u0026\u003e","z":"ü"},"endpoints":["http://[::1]:80?isSecure=false","grpcs://h:1"]}`: {
			ID: "a b", Name: "shop/orders", Metadata: map[string]string{"z": "ü", "a": "<&>"},
			Endpoints: []string{"http://[::1]:80?isSecure=false", "grpcs://h:1"},
		},
		`{"id":"2","name":"hello","version":"","metadata":{},"endpoints":[]}`: {
			ID: "2", Name: "hello", Metadata: map[string]string{}, Endpoints: []string{},
		},
		`{"id":"3","name":"hello","version":"","metadata":null,"endpoints":null}`: {ID: "3", Name: "hello"},
	} {
		inVirtualTime(t, func(t *testing.T, w *world) {
			p := w.process(t)
			require.NoError(t, p.Register(w.Patience(t), i))
			node, there := w.Fake.Node(path.Join("/microservices", i.Name, i.ID))
			require.True(t, there)
			require.Equal(t, data, string(node.Data))
			require.Equal(t, p.client.SessionID(), node.Stat.EphemeralOwner)
			list, err := p.GetService(w.Patience(t), i.Name)
			require.NoError(t, err)
			require.Equal(t, []*registry.ServiceInstance{i}, list)
			require.NoError(t, p.Deregister(w.Patience(t), i))
		})
	}
}

// Folders are no containers, which the server would delete: kratos's own registry
// does not make one again when a session is over.
func TestFolderStays(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		p := w.process(t)
		require.NoError(t, p.Register(w.Patience(t), replica("a")))
		require.NoError(t, p.Deregister(w.Patience(t), replica("a")))
		require.Zero(t, zkinside.Of(w.Fake).ReapContainers())
		time.Sleep(time.Hour)
		_, there := w.Fake.Node(folder)
		require.True(t, there)
	})
}
