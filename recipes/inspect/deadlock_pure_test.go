package inspect

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// randomWaits makes a few locks and semaphores of a few processes.
func randomWaits(rng *rand.Rand) []Wait {
	node := int64(0)
	participant := func() Participant {
		node++
		return Participant{Path: fmt.Sprint(node), Czxid: node, Session: 1 + rng.Int64N(5)}
	}
	var all []Wait
	for lock := range 1 + rng.IntN(5) {
		holders := []Participant{participant()}
		anyOf := rng.IntN(3) == 0
		for rng.IntN(3) == 0 {
			holders = append(holders, participant())
		}
		w := Wait{Path: fmt.Sprint("/", lock), Kind: Mutex, Holders: holders, Any: anyOf}
		for range rng.IntN(4) {
			w.Waiters = append(w.Waiters, participant())
		}
		all = append(all, w)
	}
	return all
}

// oneByOne returns a Wait for each waiter.
func oneByOne(waits []Wait) (all []Wait) {
	for _, w := range waits {
		for _, waiter := range w.Waiters {
			one := w
			one.Waiters = []Participant{waiter}
			all = append(all, one)
		}
	}
	return all
}

// closed reports whether no wait of a set can end, if the others do not. This
// is the definition, written in another way than in the code.
func closed(set []Wait) bool {
	for _, w := range set {
		others := slices.DeleteFunc(slices.Clone(w.Holders), func(h Participant) bool { return h.Session == w.Waiters[0].Session })
		free := slices.DeleteFunc(slices.Clone(others), func(h Participant) bool {
			return slices.ContainsFunc(set, func(next Wait) bool { return next.Waiters[0].Session == h.Session && next.Path != w.Path })
		})
		if len(free) == len(others) || w.Any && len(free) > 0 {
			return false
		}
	}
	return true
}

// largestClosed tries all sets.
func largestClosed(waits []Wait) (largest []Wait) {
	for bits := range 1 << len(waits) {
		var set []Wait
		for i, w := range waits {
			if bits>>i&1 == 1 {
				set = append(set, w)
			}
		}
		if len(set) > len(largest) && closed(set) {
			largest = set
		}
	}
	return largest
}

// A deadlock is found if, and only if, there are waits that cannot end. Each
// that is reported is a cycle of several processes.
func TestDeadlocksMatchTheDefinition(t *testing.T) {
	found := 0
	for seed := range uint64(3000) {
		waits := randomWaits(rand.New(rand.NewPCG(seed, 1)))
		each := oneByOne(waits)
		if len(each) > 9 {
			continue
		}
		stuck := largestClosed(each)
		all := deadlocks(waits)
		require.Equal(t, len(stuck) > 0, len(all) > 0, "seed %d: %v", seed, waits)
		for _, d := range all {
			found++
			requireCycle(t, d)
			for _, b := range d.Cycle {
				among := func(w Wait) bool { return w.Waiters[0].Path == b.Waiters[0].Path }
				require.True(t, slices.ContainsFunc(stuck, among), "seed %d: %v", seed, d)
			}
		}
	}
	require.Greater(t, found, 100)
}

func requireCycle(t *testing.T, d Deadlock) {
	t.Helper()
	require.Greater(t, len(d.Cycle), 1)
	for i, b := range d.Cycle {
		next := d.Cycle[(i+1)%len(d.Cycle)]
		require.Len(t, b.Holders, 1)
		require.Len(t, b.Waiters, 1)
		require.Equal(t, b.Holders[0].Session, next.Waiters[0].Session)
		require.NotEqual(t, b.Waiters[0].Session, b.Holders[0].Session)
		require.NotEqual(t, b.Path, next.Path)
	}
}

// The answer has each participant once, however many wait for it.
func TestGraphOfACrowdNamesEachOnce(t *testing.T) {
	r := Recipe{Path: "/rw", Kind: ReadWriteLock}
	for i := range 100 {
		r.Holders = append(r.Holders, Participant{Path: fmt.Sprint("/rw/holder-", i)})
		r.Waiters = append(r.Waiters, Participant{Path: fmt.Sprint("/rw/waiter-", i)})
	}
	wait, ok := waitOf(r)
	require.True(t, ok)
	require.Equal(t, r.Holders, wait.Holders)
	require.Equal(t, r.Waiters, wait.Waiters)
}

// A waiter for any of several leases waits for all of their holders. If one of
// them has given its lease back between two looks, nothing says that the waiter
// waits for the rest: it may have been admitted since.
func TestLeaseGivenBackBetweenTwoLooksIsNoWait(t *testing.T) {
	a, b, waiter := Participant{Path: "/s/a", Czxid: 1}, Participant{Path: "/s/b", Czxid: 2}, Participant{Path: "/s/w", Czxid: 3}
	wait := func(anyOf bool, holders ...Participant) []Wait {
		return []Wait{{Path: "/s", Kind: Semaphore, Waiters: []Participant{waiter}, Holders: holders, Any: anyOf}}
	}
	require.Equal(t, wait(true, a, b), stable(wait(true, a, b), wait(true, a, b)))
	require.Empty(t, stable(wait(true, a, b), wait(true, a)), "given back")
	require.Empty(t, stable(wait(true, a), wait(true, a, b)), "got")
	require.Equal(t, wait(false, a), stable(wait(false, a, b), wait(false, a)), "one who waits for all of them waits for the rest")
}
