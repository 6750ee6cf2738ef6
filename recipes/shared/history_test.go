package shared_test

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/shared"
)

// history is what clients have asked for and been told, for porcupine. It needs
// writers that never write the same number. Only a seed may be created again,
// if the node was deleted before its Value has read it.
type history struct {
	mu      sync.Mutex // protects the following fields
	clock   int64      // counts the beginnings and ends of calls
	calls   []porcupine.Operation
	applied map[int32][]register // what was written, by numbers, as the server knows
}

// call is what a client asks for.
type call struct {
	kind     string // "read", "set", "try", "seed" or "delete"
	previous register
	value    int32
}

// answer is what it is told.
type answer struct {
	unknown bool     // the outcome is
	ok      bool     // of a try
	over    bool     // of a try: it has written over a node that was re-created
	seen    register // what was read, is in the way, or was written
}

// register is the state of the node.
type register struct {
	exists bool
	value  int32
	mzxid  int64
	node   int64 // the czxid
}

func registerOf(v shared.Versioned[int32]) register {
	if !v.Exists {
		return register{}
	}
	return register{true, v.Value, v.Mzxid, v.Czxid}
}

func (h *history) begin() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clock++
	return h.clock
}

func (h *history) end(client int, begun int64, c call, a answer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clock++
	h.calls = append(h.calls, porcupine.Operation{ClientId: client, Input: c, Call: begun, Output: a, Return: h.clock})
}

// wrote notes what a server has written.
func (h *history) wrote(r register) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.applied == nil {
		h.applied = map[int32][]register{}
	}
	if r.exists && !slices.Contains(h.applied[r.value], r) {
		h.applied[r.value] = append(h.applied[r.value], r)
	}
}

// explained returns the calls with what the clients could not know. A call
// whose outcome is unknown may have taken effect at any time after its
// beginning, or never; a seed more than once. Without the server's word for it,
// the search for an order would take too long.
func (h *history) explained(t *testing.T) (calls []porcupine.Operation) {
	for _, op := range h.calls { // the server may not have been asked between two writes
		h.wrote(op.Output.(answer).seen)
		h.wrote(op.Input.(call).previous)
	}
	for value, by := range h.applied {
		if !h.isSeed(value) {
			require.Len(t, by, 1, "%d was written more than once", value)
		}
	}
	for _, op := range h.calls {
		c, a := op.Input.(call), op.Output.(answer)
		if !a.unknown {
			calls = append(calls, op)
			continue
		}
		for _, seen := range h.applied[c.value] {
			a.ok, a.seen = true, seen
			op.Output, op.Return = a, math.MaxInt64
			calls = append(calls, op)
		}
	}
	return narrowed(calls)
}

func (h *history) isSeed(value int32) bool {
	return slices.ContainsFunc(h.calls, func(op porcupine.Operation) bool {
		c := op.Input.(call)
		return c.kind == "seed" && c.value == value
	})
}

// narrowed narrows the time in which each call took effect, by what others were
// told: those who have seen a later write took effect later. No order that
// explains the history is lost, and the search finds one sooner. Refusals that
// are right in each such order are left out.
func narrowed(calls []porcupine.Operation) (all []porcupine.Operation) {
	deletes := slices.ContainsFunc(calls, func(op porcupine.Operation) bool { return op.Input.(call).kind == "delete" })
	for _, op := range calls {
		if isRefusal(op) {
			if !isExplained(op, calls, deletes) {
				all = append(all, op)
			}
			continue
		}
		begun, ended := op.Call, op.Return
		for _, other := range calls {
			if isBefore(other, op) && !isRefusal(other) {
				begun = max(begun, other.Call)
			}
			if isBefore(op, other) {
				ended = min(ended, other.Return)
			}
		}
		op.Call, op.Return = begun, ended
		all = append(all, op)
	}
	return all
}

// isExplained reports whether a refusal is right because of what is in the way,
// which took effect before the refusal ended. If a node was expected, it is
// enough that it was written later. If none was, there must be one for good, or
// it must be no older than the call.
func isExplained(refusal porcupine.Operation, calls []porcupine.Operation, deletes bool) bool {
	seen, previous := seenBy(refusal), refusal.Input.(call).previous
	if seen == 0 || previous.exists || !deletes {
		return seen > previous.mzxid
	}
	return slices.ContainsFunc(calls, func(op porcupine.Operation) bool {
		return seenBy(op) == seen && isBefore(op, refusal) && op.Call >= refusal.Call
	})
}

// isBefore reports whether one call certainly took effect before another, or
// has seen an earlier write.
func isBefore(a, b porcupine.Operation) bool {
	reads := func(op porcupine.Operation) bool { return op.Input.(call).kind == "read" || isRefusal(op) }
	switch wa, wb := seenBy(a), seenBy(b); {
	case wa == 0 || wb == 0:
		return false
	case wa == wb:
		return !reads(a) && reads(b)
	default:
		return wa < wb
	}
}

func seenBy(op porcupine.Operation) int64 { return op.Output.(answer).seen.mzxid }

func isRefusal(op porcupine.Operation) bool {
	return op.Input.(call).kind == "try" && !op.Output.(answer).ok
}

// model is a register of numbers, with compare-and-set. Its state is the
// register, and the last transaction that has written to it: later ones have
// larger numbers.
var model = porcupine.Model{
	Init: func() any { return modelState{} },
	Step: func(state, input, output any) (bool, any) {
		s, c, a := state.(modelState), input.(call), output.(answer)
		legal, next := step(s.register, c, a)
		if next.exists && next != s.register {
			legal = legal && next.mzxid > s.last
			s.last = next.mzxid
		}
		return legal, modelState{next, s.last}
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v -> %+v", input, output) },
}

type modelState struct {
	register
	last int64
}

func step(s register, c call, a answer) (legal bool, next register) {
	switch {
	case c.kind == "delete":
		return true, register{}
	case c.kind == "read":
		return s == a.seen, s
	case c.kind == "set":
		return true, a.seen
	case c.kind == "seed":
		return !s.exists, a.seen
	case a.ok && s.exists && s.node != c.previous.node && c.previous.exists:
		return a.over || a.unknown, a.seen // as TrySet's documentation has it
	case a.ok:
		return s == c.previous && !a.over, a.seen
	default:
		return s != c.previous, s
	}
}

// check requires that all calls can be put into an order in which each took
// effect between its begin and its end, and was told the truth.
func (h *history) check(t *testing.T) {
	t.Helper()
	calls := h.explained(t)
	result := porcupine.CheckOperationsTimeout(model, calls, time.Minute)
	if slices.ContainsFunc(calls, func(op porcupine.Operation) bool { return op.Return < op.Call }) {
		result = porcupine.Illegal
	}
	switch result {
	case porcupine.Illegal:
		for _, c := range calls {
			t.Logf("%d-%d client %d: %+v -> %+v", c.Call, c.Return, c.ClientId, c.Input, c.Output)
		}
		t.Error("no order explains what the clients were told")
	case porcupine.Unknown:
		t.Error("the search for an order has taken too long")
	}
}

// The checker notices what it is for.
func TestImpossibleHistoriesAreRejected(t *testing.T) {
	one, two := register{true, 1, 1, 1}, register{true, 2, 2, 1}
	set := func(to register) told { return told{call{kind: "set", value: to.value}, answer{seen: to}} }
	read := func(seen register) told { return told{call{kind: "read"}, answer{seen: seen}} }
	won := func(over, to register) told { return told{call{"try", over, to.value}, answer{ok: true, seen: to}} }
	lost := func(over register) told { return told{call{"try", over, 9}, answer{}} }
	late := func(over, to register) told { return told{call{"try", over, to.value}, answer{unknown: true}} }
	seed := told{call{kind: "seed", value: 1}, answer{unknown: true}}
	deleted := told{call{kind: "delete"}, answer{}}
	again := register{true, 1, 3, 3}
	for name, test := range map[string]struct {
		calls   []told // one after the other
		applied []register
		want    bool
	}{
		"one after the other":              {[]told{set(one), won(one, two), read(two), lost(one)}, []register{one, two}, true},
		"two have won over the same value": {[]told{set(one), won(one, two), won(one, register{true, 3, 3, 1})}, []register{one}, false},
		"applied, and reported as not":     {[]told{set(one), lost(one), read(register{true, 9, 9, 1})}, []register{one}, false},
		"refused without a reason":         {[]told{set(one), lost(one), read(one)}, []register{one}, false},
		"gone back":                        {[]told{set(one), won(one, two), read(one)}, []register{one}, false},
		"unknown, and applied later":       {[]told{set(one), late(one, two), read(one), read(two)}, []register{one, two}, true},
		"unknown, and never applied":       {[]told{set(one), late(one, two), read(one)}, []register{one}, true},
		"unknown, applied, and gone":       {[]told{set(one), late(one, two), read(two), read(one)}, []register{one, two}, false},
		"deleted":                          {[]told{set(one), deleted, read(register{}), won(register{}, two)}, []register{one}, true},
		"deleted, and seen":                {[]told{set(one), deleted, read(one)}, []register{one}, false},
		"seeded":                           {[]told{seed, read(one)}, []register{one}, true},
		"seeded over a value":              {[]told{set(two), seed, read(again)}, []register{two, again}, false},
		"deleted, and seeded again":        {[]told{seed, read(one), deleted, read(again)}, []register{one, again}, true},
		"not deleted, and seeded again":    {[]told{seed, read(one), read(again)}, []register{one, again}, false},
	} {
		t.Run(name, func(t *testing.T) {
			h := &history{}
			for i, c := range test.calls {
				h.end(i, h.begin(), c.call, c.answer)
			}
			for _, r := range test.applied {
				h.wrote(r)
			}
			require.Equal(t, test.want, porcupine.CheckOperations(model, h.explained(t)))
		})
	}
}

// told is a call, with its answer.
type told struct {
	call
	answer
}
