package recipes_test

import (
	"net"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes"
	"github.com/gocurator/curator/testing/zkserver"
	"github.com/gocurator/curator/testing/zktest"
)

// BenchmarkUncontended compares one acquire and release of the mutex with the three requests that it consists of, sent
// by go-zookeeper alone. Compare the sub-benchmarks of one run with one another; the machine decides the rest.
func BenchmarkUncontended(b *testing.B) {
	b.Run("server=zookeeper", func(b *testing.B) {
		srv := zkserver.Start(b)
		warmUp(b, srv.Addr())
		uncontended(b, srv.Addr(), (&net.Dialer{}).DialContext)
	})
	b.Run("server=zktest-tcp", func(b *testing.B) {
		srv := zktest.New(b, zktest.WithTCP("127.0.0.1:0"))
		uncontended(b, srv.Addr(), (&net.Dialer{}).DialContext)
	})
	b.Run("server=zktest-memory", func(b *testing.B) {
		srv := zktest.New(b)
		uncontended(b, srv.Addr(), srv.Dialer())
	})
}

// warmUp makes the server's virtual machine compile what the benchmarks need, or the first of them pays for it.
func warmUp(b *testing.B, addr string) {
	c, err := framework.New(addr)
	require.NoError(b, err)
	defer c.Close()
	m := recipes.NewInterProcessMutex(c, "/bench/warm-up")
	for range 10_000 {
		lease, err := m.Acquire(b.Context())
		require.NoError(b, err)
		require.NoError(b, lease.Release(b.Context()))
	}
}

func uncontended(b *testing.B, addr string, dial framework.DialFunc) {
	b.Run("lock=bare", func(b *testing.B) { bare(b, addr, dial) })
	b.Run("lock=mutex", func(b *testing.B) { mutex(b, addr, dial) })
}

func mutex(b *testing.B, addr string, dial framework.DialFunc) {
	c, err := framework.New(addr, framework.WithDialer(dial))
	require.NoError(b, err)
	defer c.Close()
	ctx := b.Context()
	m := recipes.NewInterProcessMutex(c, "/bench/mutex")
	lease, err := m.Acquire(ctx)
	require.NoError(b, err)
	require.NoError(b, lease.Release(ctx))

	b.ReportAllocs()
	for b.Loop() {
		lease, err := m.Acquire(ctx)
		if err != nil {
			b.Fatal(err)
		}
		if err := lease.Release(ctx); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "cycles/s")
}

// bare is the same sequence with names of the same length, straight on the library.
func bare(b *testing.B, addr string, dial framework.DialFunc) {
	conn, _, err := zk.Connect([]string{addr}, 15*time.Second, zk.WithLogger(silent{}),
		zk.WithDialer(func(network, address string, _ time.Duration) (net.Conn, error) {
			return dial(b.Context(), network, address)
		}))
	require.NoError(b, err)
	defer conn.Close()
	for _, path := range []string{"/bench", "/bench/bare"} {
		if _, err := conn.CreateContainer(path, nil, zk.FlagContainer, zk.WorldACL(zk.PermAll)); err != zk.ErrNodeExists {
			require.NoError(b, err)
		}
	}
	data, acl := []byte("host/12345"), zk.WorldACL(zk.PermAll)

	b.ReportAllocs()
	for b.Loop() {
		path, err := conn.Create("/bench/bare/_c_3e5a60df-061d-4981-a166-73c06f3f53fc-lock-", data, zk.FlagEphemeralSequential, acl)
		if err != nil {
			b.Fatal(err)
		}
		if _, _, err := conn.Children("/bench/bare"); err != nil {
			b.Fatal(err)
		}
		if err := conn.Delete(path, -1); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "cycles/s")
}

type silent struct{}

func (silent) Printf(string, ...any) {}
