package discovery_test

import (
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

func TestPicksAllocateNothing(t *testing.T) {
	for name, s := range every() {
		p := newPicker(t, s, some(10))
		require.Zero(t, testing.AllocsPerRun(1000, func() {
			_, done, err := p.PickFor("user-7")
			if err != nil {
				t.Error(err)
			}
			done(nil)
		}), name)
	}
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
