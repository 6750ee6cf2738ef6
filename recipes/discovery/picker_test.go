package discovery_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/discovery"
)

// Picks, updates and ejections may come at the same time.
func TestPickerIsConcurrent(t *testing.T) {
	for name, s := range every() {
		t.Run(name, func(t *testing.T) {
			list := zoned(6, 3)
			p := newPicker(t, s, list, discovery.WithEjection(2, time.Microsecond, time.Millisecond))
			var all sync.WaitGroup
			for g := range 4 {
				all.Go(func() {
					for n := range 500 {
						i, done, err := p.PickFor(string(rune('a' + n%7)))
						if err != nil || i.Service != "orders" {
							t.Error(i, err)
						}
						if (n+g)%3 == 0 {
							done(errFailed)
						} else {
							done(nil)
						}
					}
				})
			}
			for n := range 200 {
				p.Update(list[n%3 : 4+n%3])
			}
			all.Wait()
			p.Update(list)
			_, _, err := p.Pick()
			require.NoError(t, err)
		})
	}
}

// What a pick allocates is for done, which must know whether it was called.
func TestPicksAllocateLittle(t *testing.T) {
	for name, s := range every() {
		p := newPicker(t, s, some(10))
		require.LessOrEqual(t, testing.AllocsPerRun(1000, func() {
			_, done, err := p.PickFor("user-7")
			if err != nil {
				t.Error(err)
			}
			done(nil)
		}), 2.0, name)
	}
}

// A caller may defer done(nil), and call it with an error before.
func TestRequestEndsOnce(t *testing.T) {
	p := newPicker(t, discovery.PowerOfTwo(), some(2), discovery.WithEjection(3, time.Minute, time.Minute))
	first, _, err := p.Pick() // it stays under way
	require.NoError(t, err)
	for range 2 {
		i, done, err := p.Pick()
		require.NoError(t, err)
		require.NotEqual(t, first.ID, i.ID)
		done(errFailed)
		done(errFailed)
		done(nil)
	}
	require.NotEqual(t, first.ID, pick(t, p), "two errors take nobody out")
	_, _, err = p.Pick()
	require.NoError(t, err)
	require.Len(t, counted(t, p, 100), 2, "both have one request under way")
}

// A directory of all services may have instances with the same ID, at the same
// address.
func TestPickerOfSeveralServices(t *testing.T) {
	list := some(2)
	list[1] = list[0]
	list[1].Service = "bills"
	p := newPicker(t, discovery.RoundRobin(), list, discovery.WithEjection(1, time.Minute, time.Minute))
	i, done, err := p.Pick()
	require.NoError(t, err)
	done(errFailed)
	for range 10 {
		other, done, err := p.Pick()
		require.NoError(t, err)
		done(nil)
		require.NotEqual(t, i.Service, other.Service, "the one that fails is out, and not the other one")
	}
	list[0].Disabled, list[1].Disabled = true, true
	p.Update(list)
	requireNobody(t, p, "no instance to pick: all 2 are disabled")

	list[0].Disabled, list[1].Disabled = false, false
	p = newPicker(t, discovery.Rendezvous(), list)
	services := map[string]bool{}
	for key := range 100 {
		i, _, err := p.PickFor(fmt.Sprint("user-", key))
		require.NoError(t, err)
		services[i.Service] = true
	}
	require.Len(t, services, 2)
}

// The aim is ten million picks a second on one core: no more than 100 ns each.
func BenchmarkPick(b *testing.B) {
	for name, s := range every() {
		b.Run(name, func(b *testing.B) {
			p, err := discovery.NewPicker(s)
			require.NoError(b, err)
			p.Update(some(10))
			b.ReportAllocs()
			for b.Loop() {
				_, done, err := p.PickFor("user-7")
				if err != nil {
					b.Fatal(err)
				}
				done(nil)
			}
		})
	}
}

func BenchmarkPickInParallel(b *testing.B) {
	for name, s := range every() {
		b.Run(name, func(b *testing.B) {
			p, err := discovery.NewPicker(s)
			require.NoError(b, err)
			p.Update(some(10))
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					_, done, err := p.PickFor("user-7")
					if err != nil {
						b.Error(err)
					}
					done(nil)
				}
			})
		})
	}
}
