package discovery_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
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
			list := some(6)
			p := newPicker(t, s, list, discovery.WithEjection(2, time.Microsecond, time.Millisecond))
			var all sync.WaitGroup
			for g := range 4 {
				all.Go(func() {
					for n := range 500 {
						i, request, err := p.Pick()
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
				p.Update(entries(list[n%3 : 4+n%3]))
			}
			all.Wait()
			p.Update(entries(list))
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
			_, request, err := p.Pick()
			if err != nil {
				t.Error(err)
			}
			request.Done(nil)
		}), name)
	}
}

// A caller may defer Done(nil), and call it with an error before.
func TestRequestEndsOnce(t *testing.T) {
	p := newPicker(t, discovery.RoundRobin(), some(2), discovery.WithEjection(2, time.Minute, time.Minute))
	for range 2 { // each fails once
		_, request, err := p.Pick()
		require.NoError(t, err)
		request.Done(errFailed)
		request.Done(errFailed)
		request.Done(nil)
	}
	first, request, err := p.Pick()
	require.NoError(t, err)
	request.Done(errFailed)
	for range 10 {
		require.NotEqual(t, first.ID, pick(t, p), "the second error has taken it out")
	}
}

// A second call of Done ends no request that has begun meanwhile, neither of the same
// Picker nor of another.
func TestRequestThatHasEndedEndsNoOther(t *testing.T) {
	for range 100 {
		p := newPicker(t, discovery.RoundRobin(), some(3), discovery.WithEjection(1, time.Minute, time.Minute))
		_, old, err := p.Pick()
		require.NoError(t, err)
		copied := old
		old.Done(nil)
		fails, request, err := p.Pick()
		require.NoError(t, err)
		old.Done(errFailed)
		copied.Done(errFailed)
		require.Len(t, counted(t, p, 9), 3)
		request.Done(errFailed)
		require.NotContains(t, counted(t, p, 9), fails.ID, "it was under way")
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
	p.Update(entries(list))
	requireNobody(t, p, "no instance to pick: all 2 are disabled")
}

// The aim is ten million picks a second on one core: no more than 100 ns each.
func BenchmarkPick(b *testing.B) {
	for name, s := range every() {
		b.Run(name, func(b *testing.B) {
			p, err := discovery.NewPicker(s)
			require.NoError(b, err)
			p.Update(entries(some(10)))
			b.ReportAllocs()
			for b.Loop() {
				_, request, err := p.Pick()
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
			p.Update(entries(some(10)))
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					_, request, err := p.Pick()
					if err != nil {
						b.Error(err)
					}
					request.Done(nil)
				}
			})
		})
	}
}

// Whatever changes between two lists, the instances of the second list that do not
// drain are picked with their new data. An instance that is out stays out as long as it
// is in the list.
func TestUpdateOfAnyPartOfAList(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		p := newPicker(t, discovery.RoundRobin(), some(2), discovery.WithEjection(1, time.Hour, time.Hour))
		all := entries(some(8))
		p.Update(all)
		fail, request, err := p.Pick()
		require.NoError(t, err)
		request.Done(errFailed)
		for range 10 {
			next := slices.Clone(all)
			for range chance.IntN(4) {
				at, changed := chance.IntN(len(next)), *next[chance.IntN(len(next))]
				switch chance.IntN(4) {
				case 0:
					changed = *next[at]
					changed.Disabled = changed.ID != fail.ID && !changed.Disabled && at%2 == 0
					next[at] = &changed
				case 1:
					next[0], next[at] = next[at], next[0]
				case 2:
					if next[at].ID != fail.ID && len(next) > 5 {
						next = slices.Delete(next, at, at+1)
					}
				default:
					changed.ID, changed.Disabled = fmt.Sprint("new ", chance.Int()), false
					next = slices.Insert(next, at, &changed)
				}
			}
			p.Update(next)
			var want []string
			for _, e := range next {
				if !e.Disabled && e.ID != fail.ID {
					want = append(want, e.ID)
				}
			}
			requireIn(t, p, want...)
			all = next
		}
	}
}

// An update of one instance among many allocates two lists of pointers and little
// more.
func TestUpdateOfOneAmongMany(t *testing.T) {
	all := entries(some(10_000))
	p := newPicker(t, discovery.RoundRobin(), nil)
	p.Update(all)
	next := slices.Clone(all)
	changed := *all[7]
	next[7] = &changed
	allocs := testing.AllocsPerRun(10, func() {
		p.Update(next)
		p.Update(all)
	})
	require.LessOrEqual(t, allocs, 20.0)
}

// An update of one instance among many does not look at the others: it keeps what
// is known of them, and allocates two lists of pointers and little more.
func BenchmarkUpdate(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p, err := discovery.NewPicker(discovery.RoundRobin())
			require.NoError(b, err)
			all := entries(some(n))
			p.Update(all)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				next := slices.Clone(all)
				changed := *next[i*7919%n]
				next[i*7919%n] = &changed
				p.Update(next)
				all = next
			}
		})
	}
}
