//go:build real

package interop_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkserver"
	"github.com/gocurator/curator/recipes/atomic"
)

// The time of an increment in Curator divided by ours, for several writers at
// once, and the requests of both. Writers are goroutines, or threads, of one
// process that share a number. With clients, ours have a client and a number
// each, so that nothing is combined. Next is Sequence.Next in place of our
// increment. Bare is a Set of go-zookeeper in its place, without any of ours: the
// least that a write can cost.
//
// Curator's increment is a read and a write, and Next is one write. So with one
// writer the ratio is that of two requests to one, whatever we do: in a run
// where Next was 1.9 times as fast as Curator, Bare was 1.6 times. Next and Bare
// took 361 and 369 microseconds.
//
// Curator's policy is to try again at once; see java/Atomics.java.
func BenchmarkIncrements(b *testing.B) {
	javaCurator.get(b)
	srv := zkserver.Start(b, zkserver.WithJVMFlags("-XX:TieredStopAtLevel=4"))
	for _, writers := range []int{1, 8, 64} {
		for _, s := range []struct {
			name    string
			clients int
			counts  func(b *testing.B, addr string) func(context.Context) error
		}{
			{"Add", 1, adds()},
			{"Add-with-receipts", 1, adds(atomic.WithReceipts("/bench-receipts"))},
			{"Add-of-clients", writers, adds()},
			{"Next", 1, takes},
			{"Bare", 1, sets},
		} {
			if s.clients > 8 {
				continue
			}
			who := increments{writers: writers, each: 256 / writers, clients: s.clients, counts: s.counts}
			b.Run(fmt.Sprintf("%s/writers=%d", s.name, writers), func(b *testing.B) { who.compare(b, srv.Addr()) })
		}
	}
}

func benchClient(b testing.TB, addr string) *framework.Client {
	c, err := framework.New(addr, framework.WithSessionTimeout(longSession))
	require.NoError(b, err)
	b.Cleanup(func() { c.Close() })
	return c
}

// takes takes numbers of a sequence.
func takes(b *testing.B, addr string) func(context.Context) error {
	ids := atomic.NewSequence(benchClient(b, addr), "/bench/ids")
	return func(ctx context.Context) error {
		_, err := ids.Next(ctx)
		return err
	}
}

// sets writes a node as a Sequence does, with go-zookeeper alone.
func sets(b *testing.B, addr string) func(context.Context) error {
	conn, _, err := zk.Connect([]string{addr}, longSession, zk.WithLogInfo(false))
	require.NoError(b, err)
	b.Cleanup(conn.Close)
	_, err = conn.Create("/bench-bare", nil, 0, zk.WorldACL(zk.PermAll))
	if !errors.Is(err, zk.ErrNodeExists) {
		require.NoError(b, err)
	}
	return func(context.Context) error {
		_, err := conn.Set("/bench-bare", nil, -1)
		return err
	}
}

func adds(opts ...atomic.Option) func(b *testing.B, addr string) func(context.Context) error {
	return func(b *testing.B, addr string) func(context.Context) error {
		n := atomic.NewLong(benchClient(b, addr), "/bench/go-number", opts...)
		return func(ctx context.Context) error {
			_, err := n.Add(ctx, 1)
			return err
		}
	}
}

// increments is what happens in a round of BenchmarkIncrements.
type increments struct {
	writers, each, clients int
	counts                 func(b *testing.B, addr string) func(context.Context) error
}

func (who increments) compare(b *testing.B, addr string) {
	meter := startMeter(b, addr)
	ours, curators := who.ours(b, addr), who.curators(b, addr)
	for warm := time.Now(); time.Since(warm) < *warmUp; {
		ours.must(b)
		curators.must(b)
	}
	var our, curator []float64
	for b.Loop() {
		our = append(our, float64(ours.must(b).Nanoseconds())/float64(who.all()))
		curator = append(curator, float64(curators.must(b).Nanoseconds())/float64(who.all()))
	}
	b.ReportMetric(0, "ns/op") // of a pair, which means nothing
	reportRatios(b, "x-curator", curator, our)
	b.ReportMetric(median(our), "our-ns") // sorts them
	for name, round := range map[string]round{
		"our-reqs": who.ours(b, meter.addr()), "curator-reqs": who.curators(b, meter.addr()),
	} {
		requests, _ := meter.cost(b, round)
		b.ReportMetric(float64(requests)/float64(who.all()), name)
	}
}

func (who increments) all() int { return who.writers * who.each }

func (who increments) ours(b *testing.B, addr string) round {
	counts := repeat(who.clients, func() func(context.Context) error { return who.counts(b, addr) })
	return func() (time.Duration, error) {
		var all sync.WaitGroup
		start := time.Now()
		for i := range who.writers {
			all.Go(func() {
				for range who.each {
					if err := counts[i%who.clients](b.Context()); err != nil {
						b.Error(err)
					}
				}
			})
		}
		all.Wait()
		return time.Since(start), nil
	}
}

func (who increments) curators(b *testing.B, addr string) round {
	java := startProcessWith(b, nil, addr, longSession)
	return func() (time.Duration, error) {
		ctx, cancel := context.WithTimeout(b.Context(), 2*time.Minute)
		defer cancel()
		words, err := java.ask(ctx, "atomic-count", "long", "/bench/java-number", who.writers, who.each)
		if err != nil {
			return 0, err
		}
		return time.ParseDuration(words[0] + "ns")
	}
}
