package histories_test

import (
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/histories"
)

type (
	acquired = histories.Acquired
	ended    = histories.Ended
	write    = histories.Write
	read     = histories.Read
	done     = histories.Done
)

// step begins a call, and ends it right away, unless it is late: then it ends
// behind all others.
type step struct {
	asked, told any
	late, open  bool
}

func play(steps []step) *histories.History {
	h := &histories.History{}
	var later []func()
	for i, s := range steps {
		call := h.Begin(i)
		switch {
		case s.open:
			call.Open(s.asked)
		case s.late:
			later = append(later, func() { call.End(s.asked, s.told) })
		default:
			call.End(s.asked, s.told)
		}
	}
	for _, end := range later {
		end()
	}
	return h
}

func TestModels(t *testing.T) {
	do := func(asked any) step { return step{asked: asked} }
	add := func(delta, now int64) step { return step{asked: histories.Add(delta), told: now} }
	load := func(now int64) step { return step{asked: read{}, told: now} }
	swap := func(old, now string, ok bool) step {
		return step{asked: histories.Swap[string]{Old: old, New: now}, told: done(ok)}
	}
	late := func(asked any) step { return step{asked: asked, late: true} }
	for _, c := range []struct {
		name  string
		model porcupine.Model
		steps []step
		ok    bool
	}{
		{"one after the other", histories.Mutex, []step{do(acquired{Token: 1}), do(ended{Token: 1}), do(acquired{Token: 2})}, true},
		{"two at once", histories.Mutex, []step{do(acquired{Token: 1}), do(acquired{Token: 2})}, false},
		{"while the release is under way", histories.Mutex, []step{do(acquired{Token: 1}), late(ended{Token: 1}), do(acquired{Token: 2})}, true},
		{"tokens go backwards", histories.Mutex, []step{do(acquired{Token: 2}), do(ended{Token: 2}), do(acquired{Token: 1})}, false},
		{"a token twice", histories.Mutex, []step{do(acquired{Token: 2}), do(ended{Token: 2}), do(acquired{Token: 2})}, false},
		{"an end of nothing", histories.Mutex, []step{do(ended{Token: 1})}, false},

		{"readers together", histories.ReadWriteLock, []step{do(acquired{1, true}), do(acquired{2, true})}, true},
		{"a writer beside a reader", histories.ReadWriteLock, []step{do(acquired{1, true}), do(acquired{2, false})}, false},
		{"a reader beside a writer", histories.ReadWriteLock, []step{do(acquired{1, false}), do(acquired{2, true})}, false},
		{"a writer behind the readers", histories.ReadWriteLock, []step{
			do(acquired{1, true}), do(acquired{2, true}), do(ended{1, true}), do(ended{2, true}), do(acquired{3, false}),
		}, true},
		{"a writer before the last reader", histories.ReadWriteLock, []step{
			do(acquired{1, true}), do(acquired{2, true}), do(ended{1, true}), do(acquired{3, false}),
		}, false},

		{"as many leases as there are", histories.Semaphore(2), []step{do(acquired{Token: 7}), do(acquired{Token: 3})}, true},
		{"a lease too many", histories.Semaphore(2), []step{do(acquired{Token: 7}), do(acquired{Token: 3}), do(acquired{Token: 9})}, false},
		{"a lease that was given back", histories.Semaphore(2), []step{
			do(acquired{Token: 7}), do(acquired{Token: 3}), do(ended{Token: 7}), do(acquired{Token: 9}),
		}, true},

		{"what was written", histories.FencedRegister, []step{{asked: write{1, "a"}, told: done(true)}, {asked: read{}, told: "a"}}, true},
		{"what was not written", histories.FencedRegister, []step{{asked: write{1, "a"}, told: done(true)}, {asked: read{}, told: "b"}}, false},
		{"an old token", histories.FencedRegister, []step{{asked: write{2, "a"}, told: done(true)}, {asked: write{1, "b"}, told: done(true)}}, false},
		{"an old token is refused", histories.FencedRegister, []step{
			{asked: write{2, "a"}, told: done(true)}, {asked: write{1, "b"}, told: done(false)}, {asked: read{}, told: "a"},
		}, true},
		{"a new token is refused", histories.FencedRegister, []step{{asked: write{1, "a"}, told: done(true)}, {asked: write{2, "b"}, told: done(false)}}, false},
		{"unknown, and written", histories.FencedRegister, []step{{asked: write{1, "a"}, open: true}, {asked: read{}, told: "a"}}, true},
		{"unknown, and never written", histories.FencedRegister, []step{{asked: write{1, "a"}, open: true}, {asked: read{}, told: ""}}, true},
		{"unknown, and written later", histories.FencedRegister, []step{
			{asked: write{1, "a"}, open: true}, {asked: read{}, told: ""}, {asked: read{}, told: "a"},
		}, true},
		{"unknown, and undone", histories.FencedRegister, []step{
			{asked: write{1, "a"}, open: true}, {asked: read{}, told: "a"}, {asked: read{}, told: ""},
		}, false},

		{"a number that grows", histories.Value[int64](0), []step{add(1, 1), add(10, 11), load(11)}, true},
		{"an addition that is lost", histories.Value[int64](0), []step{add(1, 1), add(10, 10)}, false},
		{"an addition that counts twice", histories.Value[int64](0), []step{add(1, 1), load(2)}, false},
		{"a number of the past", histories.Value[int64](0), []step{add(1, 1), load(0)}, false},
		{"an unknown addition, and it is there", histories.Value[int64](0), []step{{asked: histories.Add(1), open: true}, add(10, 11)}, true},
		{"an unknown addition, and it never is", histories.Value[int64](0), []step{{asked: histories.Add(1), open: true}, add(10, 10)}, true},
		{"an unknown addition, and it is not there any more", histories.Value[int64](0), []step{
			{asked: histories.Add(1), open: true}, add(10, 11), load(10),
		}, false},

		{"a value that is swapped", histories.Value("a"), []step{swap("a", "b", true), {asked: read{}, told: "b"}}, true},
		{"a value that is swapped twice", histories.Value("a"), []step{swap("a", "b", true), swap("a", "c", true)}, false},
		{"a swap that comes too late", histories.Value("a"), []step{{asked: histories.Set[string]{Value: "b"}, told: done(true)}, swap("a", "c", false)}, true},
		{"a swap that is refused for no reason", histories.Value("a"), []step{swap("a", "b", false)}, false},
		{"a value that is overwritten", histories.Value("a"), []step{{asked: histories.Set[string]{Value: "b"}, told: done(true)}, {asked: read{}, told: "a"}}, false},
		{"an unknown swap, and it is there", histories.Value("a"), []step{{asked: histories.Swap[string]{Old: "a", New: "b"}, open: true}, {asked: read{}, told: "b"}}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := play(c.steps).Check(c.model)
			if c.ok {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, "no order explains")
			}
		})
	}
}

// A history in which nothing was told proves nothing.
func TestHistoryOfNothingIsNoProof(t *testing.T) {
	open := step{asked: histories.Add(1), open: true}
	for name, steps := range map[string][]step{"no call": nil, "no answer": {open, open}} {
		t.Run(name, func(t *testing.T) {
			require.ErrorContains(t, play(steps).Check(histories.Value[int64](0)), "has an answer")
		})
	}
}
