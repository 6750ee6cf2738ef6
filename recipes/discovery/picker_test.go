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
						i, request, err := p.PickFor(string(rune('a' + n%7)))
						if err != nil || i.Service != "orders" {
							t.Error(i, err)
						}
						if (n+g)%3 == 0 {
							request.Done(errFailed)
						} else {
							request.Done(nil)
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

// A pick costs no work of the garbage collector.
func TestPicksAllocateNothing(t *testing.T) {
	for name, s := range every() {
		p := newPicker(t, s, some(10))
		require.Zero(t, testing.AllocsPerRun(1000, func() {
			_, request, err := p.PickFor("user-7")
			if err != nil {
				t.Error(err)
			}
			request.Done(nil)
		}), name)
	}
}

// A caller may defer Done(nil), and call it with an error before.
func TestRequestEndsOnce(t *testing.T) {
	p := newPicker(t, discovery.PowerOfTwo(), some(2), discovery.WithEjection(3, time.Minute, time.Minute))
	first, _, err := p.Pick() // it stays under way
	require.NoError(t, err)
	for range 2 {
		i, request, err := p.Pick()
		require.NoError(t, err)
		require.NotEqual(t, first.ID, i.ID)
		request.Done(errFailed)
		request.Done(errFailed)
		request.Done(nil)
	}
	require.NotEqual(t, first.ID, pick(t, p), "two errors take nobody out")
	_, _, err = p.Pick()
	require.NoError(t, err)
	require.Len(t, counted(t, p, 100), 2, "both have one request under way")
}

// The end of a request that comes again ends none that has begun meanwhile, of the
// same Picker or of another one.
func TestRequestThatHasEndedEndsNoOther(t *testing.T) {
	p := newPicker(t, discovery.PowerOfTwo(), some(2))
	for range 100 {
		_, old, err := p.Pick()
		require.NoError(t, err)
		copied := old
		old.Done(nil)
		busy, request, err := p.Pick()
		require.NoError(t, err)
		old.Done(nil)
		copied.Done(nil)
		for range 10 {
			require.NotEqual(t, busy.ID, pick(t, p), "one request is under way")
		}
		request.Done(nil)
	}
	discovery.Request{}.Done(errFailed)
}

// A directory of all services may have instances with the same ID, at the same
// address.
func TestPickerOfSeveralServices(t *testing.T) {
	list := some(2)
	list[1] = list[0]
	list[1].Service = "bills"
	p := newPicker(t, discovery.RoundRobin(), list, discovery.WithEjection(1, time.Minute, time.Minute))
	i, request, err := p.Pick()
	require.NoError(t, err)
	request.Done(errFailed)
	for range 10 {
		other, request, err := p.Pick()
		require.NoError(t, err)
		request.Done(nil)
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
				_, request, err := p.PickFor("user-7")
				if err != nil {
					b.Fatal(err)
				}
				request.Done(nil)
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
					_, request, err := p.PickFor("user-7")
					if err != nil {
						b.Error(err)
					}
					request.Done(nil)
				}
			})
		})
	}
}
