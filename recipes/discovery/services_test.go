package discovery_test

import (
	"cmp"
	"net"
	"strconv"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/discovery"
)

// A stranger's folder, whose name stands for an interface as well, is no service's:
// the end of its node does not end the instance.
func TestFolderThatIsEscapedOtherwiseIsNoService(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		const url = "tri%3A%2F%2F10.0.0.7%3A80%2Fa.B"
		require.NoError(t, w.Fake.Create("/dubbo/a.B/providers/"+url, nil))
		require.NoError(t, w.Fake.Create("/dubbo/a%2EB/providers/"+url, nil))
		d, err := discovery.NewServices(w.Observer, "/dubbo", discovery.DubboInterfaceCodec("tri"))
		require.NoError(t, err)
		defer d.Close()
		require.NoError(t, d.WaitInstances(w.Patience(t), 1))
		require.NoError(t, w.Fake.Delete("/dubbo/a%2EB/providers/"+url))
		outlastGrace()
		require.Len(t, names(d), 1)
	})
}

// addressNames is a format whose nodes are named by their addresses and have no data:
// in a directory of all services, any empty folder looks like a malformed one.
type addressNames struct{ plain }

func (addressNames) Decode(service, name string, _ []byte) (discovery.Instance, error) {
	host, port, err := net.SplitHostPort(name)
	n, bad := strconv.Atoi(port)
	return discovery.Instance{Service: service, ID: name, Address: host, Port: n}, cmp.Or(err, bad)
}

// A folder that was empty need not be an instance any more when something comes
// below it.
func TestFolderThatWasEmptyIsNoBadNode(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		require.NoError(t, w.Fake.Create(base+"/com/orders", nil))
		require.NoError(t, w.Fake.Create(base+"/com/web-1", nil))
		d, err := discovery.NewServices(w.Observer, base, addressNames{})
		require.NoError(t, err)
		defer d.Close()
		require.NoError(t, d.WaitSynced(w.Patience(t)))
		require.Len(t, d.Snapshot().Bad, 2)
		require.NoError(t, w.Fake.Create(base+"/com/orders/10.0.0.7:80", nil))
		settle()
		require.Equal(t, []string{"10.0.0.7:80:80"}, names(d))
		require.Len(t, d.Snapshot().Bad, 1)
		require.Equal(t, "web-1", d.Snapshot().Bad[0].ID)
	})
}

func TestServicesOfACodecThatCannotBeUsed(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		d, err := discovery.NewServices(w.Observer, base, discovery.CuratorCodec(nil))
		if err == nil {
			d.Close()
		}
		require.ErrorIs(t, err, zk.ErrBadArguments)
	})
}
