//go:build real

package locks_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkserver"
	"github.com/gocurator/curator/recipes/locks"
)

func cpuNow() time.Duration {
	var ru syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &ru)
	return time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
}

func zzOurs(tb testing.TB, addr string, sessions int) func(n int) {
	var all []*locks.InterProcessMutex
	for range sessions {
		c, err := framework.Connect(tb.Context(), addr, framework.WithSessionTimeout(40*time.Second))
		require.NoError(tb, err)
		tb.Cleanup(func() { c.Close() })
		all = append(all, locks.NewInterProcessMutex(c, "/zz/our"))
	}
	return func(n int) {
		var wg sync.WaitGroup
		for _, m := range all {
			wg.Go(func() {
				ctx := context.Background()
				for range n {
					l, err := m.Acquire(ctx)
					if err != nil {
						panic(err)
					}
					if err := l.Release(ctx); err != nil {
						panic(err)
					}
				}
			})
		}
		wg.Wait()
	}
}

func zzZk(tb testing.TB, addr string, sessions int) func(n int) {
	var all []*zk.Lock
	for range sessions {
		c, _, err := zk.Connect([]string{addr}, 40*time.Second, zk.WithLogInfo(false), zk.WithLogger(silent{}))
		require.NoError(tb, err)
		tb.Cleanup(c.Close)
		all = append(all, zk.NewLock(c, "/zz/zk", zk.WorldACL(zk.PermAll)))
	}
	return func(n int) {
		var wg sync.WaitGroup
		for _, m := range all {
			wg.Go(func() {
				for range n {
					if err := m.Lock(); err != nil {
						panic(err)
					}
					if err := m.Unlock(); err != nil {
						panic(err)
					}
				}
			})
		}
		wg.Wait()
	}
}

func TestZZ(t *testing.T) {
	which := os.Getenv("ZZ") // our-8, our-1, zk-8
	if which == "" {
		t.Skip()
	}
	srv := zkserver.Start(t, zkserver.WithJVMFlags("-XX:TieredStopAtLevel=4"))
	lib, s, _ := strings.Cut(which, "-")
	var sessions int
	fmt.Sscan(s, &sessions)
	mk := map[string]func(testing.TB, string, int) func(int){"our": zzOurs, "zk": zzZk}[lib]
	run := mk(t, srv.Addr(), sessions)
	n := 20000 / sessions
	if os.Getenv("ZZN") != "" {
		fmt.Sscan(os.Getenv("ZZN"), &n)
		n /= sessions
	}
	run(n / 4)
	if f := os.Getenv("ZZCPU"); f != "" {
		w, _ := os.Create(f)
		runtime.SetCPUProfileRate(1000)
		pprof.StartCPUProfile(w)
		defer pprof.StopCPUProfile()
	}
	var a, b runtime.MemStats
	runtime.ReadMemStats(&a)
	c0, t0 := cpuNow(), time.Now()
	run(n)
	c1, t1 := cpuNow(), time.Now()
	runtime.ReadMemStats(&b)
	ops := float64(n * sessions)
	fmt.Printf("%s: %.1f us cpu, %.1f us wall, %.2f allocs, %.0f B, %d gcs\n", which, float64((c1-c0).Microseconds())/ops,
		float64(t1.Sub(t0).Microseconds())/ops, float64(b.Mallocs-a.Mallocs)/ops, float64(b.TotalAlloc-a.TotalAlloc)/ops, b.NumGC-a.NumGC)
	if f := os.Getenv("ZZMEM"); f != "" {
		runtime.GC()
		w, _ := os.Create(f)
		pprof.Lookup("allocs").WriteTo(w, 0)
		w.Close()
	}
}

// Paired rounds.
func TestZZPaired(t *testing.T) {
	if os.Getenv("ZZP") == "" {
		t.Skip()
	}
	var sessions int
	fmt.Sscan(os.Getenv("ZZP"), &sessions)
	srv := zkserver.Start(t, zkserver.WithJVMFlags("-XX:TieredStopAtLevel=4"))
	our, zkl := zzOurs(t, srv.Addr(), sessions), zzZk(t, srv.Addr(), sessions)
	n := 2000 / sessions
	for range 5 {
		our(n)
		zkl(n)
	}
	var ratios, rates, oursCPU, zkCPU []float64
	for i := range 30 {
		m := func(f func(int)) (float64, float64) {
			c0, t0 := cpuNow(), time.Now()
			f(n)
			return float64(cpuNow() - c0), float64(time.Since(t0))
		}
		var oc, ot, zc, zt float64
		if i%2 == 0 {
			oc, ot = m(our)
			zc, zt = m(zkl)
		} else {
			zc, zt = m(zkl)
			oc, ot = m(our)
		}
		ratios, rates = append(ratios, oc/zc), append(rates, zt/ot)
		oursCPU, zkCPU = append(oursCPU, oc/float64(n*sessions)/1e3), append(zkCPU, zc/float64(n*sessions)/1e3)
	}
	fmt.Printf("cpu ratio %.3f, rate %.3f, our %.1f zk %.1f us\n", med(ratios), med(rates), med(oursCPU), med(zkCPU))
}

func med(d []float64) float64 {
	s := append([]float64(nil), d...)
	for i := range s {
		for j := i; j > 0 && s[j] < s[j-1]; j-- {
			s[j], s[j-1] = s[j-1], s[j]
		}
	}
	return s[len(s)/2]
}
