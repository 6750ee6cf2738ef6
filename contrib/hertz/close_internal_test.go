package hertz

import (
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// slowCodec decodes nothing before it may go on.
type slowCodec struct {
	discovery.Codec
	goOn chan struct{}
}

func (c slowCodec) Decode(service, name string, data []byte) (discovery.Instance, error) {
	<-c.goOn
	return c.Codec.Decode(service, name, data)
}

// Two calls of Close at once wait for the same.
func TestEachCloseOfAResolverWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		require.NoError(t, srv.Create("/product/10.0.0.7:8888", []byte(`{"Weight":10}`)))
		client, slow := curatortest.Connect(t, srv), slowCodec{theirs, make(chan struct{})}
		d, err := discovery.NewDirectory(client, base, slow, "product")
		require.NoError(t, err)
		goOn := sync.OnceFunc(func() { close(slow.goOn) })
		defer goOn()
		r := NewResolver(client)
		r.services["product"] = &service{directory: d}
		synctest.Wait()
		closed := make(chan error, 2)
		for range 2 {
			go func() { closed <- r.Close() }()
		}
		synctest.Wait()
		require.Empty(t, closed)
		goOn()
		for range 2 {
			require.NoError(t, <-closed)
		}
	})
}
