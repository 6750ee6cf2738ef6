package discovery_test

import (
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

func TestServicesOfACodecThatCannotBeUsed(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		d, err := discovery.NewServices(w.Observer, base, discovery.CuratorCodec(nil))
		if err == nil {
			d.Close()
		}
		require.ErrorIs(t, err, zk.ErrBadArguments)
	})
}
