//go:build real

package framework_test

import (
	"context"
	"fmt"
	"net"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkserver"
	"github.com/gocurator/curator/testing/zktest"
)

// BenchmarkThroughput compares operations of a Client with the same calls of
// go-zookeeper. The two take turns, so that both see the same server at the
// same time. The ratio counts: machines differ, and are busy. One
// iteration is one turn of each; a turn is many operations by many goroutines.
func BenchmarkThroughput(b *testing.B) {
	for _, server := range []string{"zktest-tcp", "zookeeper"} {
		b.Run("server="+server, func(b *testing.B) {
			var addr string
			if server == "zookeeper" {
				addr = zkserver.Start(b).Addr()
			} else {
				addr = zktest.Start(b, zktest.WithTCP("127.0.0.1:0")).Addr()
			}
			plain, ours := plainOps(b, addr), clientOps(b, addr)
			for _, op := range []string{"get", "set", "create"} {
				for _, goroutines := range []int{1, 64, 1024} {
					b.Run(fmt.Sprintf("op=%s/goroutines=%d", op, goroutines), func(b *testing.B) {
						throughput(b, goroutines, plain[op], ours[op])
					})
				}
			}
		})
	}
}

func throughput(b *testing.B, goroutines int, plain, ours func() error) {
	const operations = 4096 // of a turn
	turn := func(op func() error) (time.Duration, uint64) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		begin := time.Now()
		var all sync.WaitGroup
		for range goroutines {
			all.Go(func() {
				for range operations / goroutines {
					if err := op(); err != nil {
						b.Error(err)
					}
				}
			})
		}
		all.Wait()
		d := time.Since(begin)
		runtime.ReadMemStats(&after)
		return d, after.Mallocs - before.Mallocs
	}
	turn(plain)
	turn(ours)
	var plainTimes, oursTimes []time.Duration
	var plainAllocs, oursAllocs uint64
	for b.Loop() {
		d, n := turn(plain)
		plainTimes, plainAllocs = append(plainTimes, d), plainAllocs+n
		d, n = turn(ours)
		oursTimes, oursAllocs = append(oursTimes, d), oursAllocs+n
	}
	slices.Sort(plainTimes)
	slices.Sort(oursTimes)
	p, o := plainTimes[len(plainTimes)/2], oursTimes[len(oursTimes)/2]
	b.ReportMetric(0, "ns/op") // of a pair of turns, which means nothing
	b.ReportMetric(operations/p.Seconds(), "plain-ops/s")
	b.ReportMetric(operations/o.Seconds(), "client-ops/s")
	b.ReportMetric(p.Seconds()/o.Seconds(), "client/plain")
	b.ReportMetric(float64(plainAllocs)/float64(b.N*operations), "plain-allocs/op") // with those of a server in this process
	b.ReportMetric(float64(oursAllocs)/float64(b.N*operations), "client-allocs/op")
}

var benchData = make([]byte, 100)

func plainOps(b *testing.B, addr string) map[string]func() error {
	conn, events, err := zk.Connect([]string{addr}, 15*time.Second, zk.WithLogger(silent{}),
		zk.WithDialer(func(network, address string, timeout time.Duration) (net.Conn, error) {
			return net.DialTimeout(network, address, timeout)
		}))
	require.NoError(b, err)
	b.Cleanup(func() {
		conn.Close()
		for range events {
		}
	})
	acl := zk.WorldACL(zk.PermAll)
	for _, path := range []string{"/plain", "/plain/node", "/plain/children"} {
		_, err = conn.Create(path, benchData, 0, acl)
		require.NoError(b, err)
	}
	return map[string]func() error{
		"get": func() error { _, _, err := conn.Get("/plain/node"); return err },
		"set": func() error { _, err := conn.Set("/plain/node", benchData, -1); return err },
		"create": func() error {
			_, err := conn.Create("/plain/children/n-", benchData, zk.FlagEphemeralSequential, acl)
			return err
		},
	}
}

func clientOps(b *testing.B, addr string) map[string]func() error {
	c, err := framework.New(addr)
	require.NoError(b, err)
	b.Cleanup(func() { c.Close() })
	ctx := context.Background()
	for _, path := range []string{"/client", "/client/node", "/client/children"} {
		_, err = c.Create(ctx, path, benchData)
		require.NoError(b, err)
	}
	sequential := framework.WithMode(framework.EphemeralSequential)
	return map[string]func() error{
		"get": func() error { _, _, err := c.Get(ctx, "/client/node"); return err },
		"set": func() error {
			_, err := c.Set(ctx, "/client/node", benchData, framework.AnyVersion)
			return err
		},
		"create": func() error { _, err := c.Create(ctx, "/client/children/n-", benchData, sequential); return err },
	}
}

// BenchmarkGet is a read from a server in the same process, without and with a
// hook that does nothing.
func BenchmarkGet(b *testing.B) {
	for name, opts := range map[string][]framework.Option{
		"hook=none": nil,
		"hook=idle": {framework.WithHooks(idle{})},
	} {
		b.Run(name, func(b *testing.B) {
			srv := zktest.Start(b)
			c, err := framework.New(srv.Addr(), append(opts, framework.WithDialer(srv.Dialer()))...)
			require.NoError(b, err)
			b.Cleanup(func() { c.Close() })
			require.NoError(b, c.WaitConnected(b.Context()))
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := c.Get(context.Background(), "/"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
