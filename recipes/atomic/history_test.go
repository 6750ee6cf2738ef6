package atomic_test

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/gocurator/curator/framework"
)

// history is what several callers have done with one object, in an order that
// respects who had finished before whom had begun.
type history struct {
	mu         sync.Mutex // protects the following fields
	clock      int64
	operations []porcupine.Operation
	unknown    int
}

// input is what a caller asks for, and output what it was told.
type (
	input struct {
		op   string // "load", "store", "add", "swap", "triple" or "next"
		a, b int64
	}
	output struct {
		now     int64
		swapped bool
		unknown bool
	}
)

func (h *history) tick() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clock++
	return h.clock
}

// do carries an operation out and takes it down. One that was not applied has
// no part in the history. One of unknown outcome may still be applied at any
// time, which is never if nothing follows it.
func (h *history) do(caller int, in input, do func() (output, error)) error {
	begin := h.tick()
	out, err := do()
	end := h.tick()
	switch {
	case err == nil:
	case errors.Is(err, framework.ErrOutcomeUnknown):
		out, end = output{unknown: true}, math.MaxInt64
	default:
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if out.unknown {
		h.unknown++
	}
	h.operations = append(h.operations, porcupine.Operation{ClientId: caller, Input: in, Output: out, Call: begin, Return: end})
	return err
}

// check reports whether all operations can have happened one after the other,
// each of them at a moment between its call and its return.
func (h *history) check(m porcupine.Model) porcupine.CheckResult {
	return porcupine.CheckOperationsTimeout(m, h.operations, 5*time.Minute)
}

// numberModel is a number that is read and changed by one at a time. An
// operation of unknown outcome has its effect; if it never had one, it can be
// the last.
var numberModel = porcupine.Model{
	Init: func() any { return int64(0) },
	Step: func(state, in, out any) (bool, any) {
		s, i, o := state.(int64), in.(input), out.(output)
		next, swapped := applyTo(s, i)
		ok := o.unknown || o.swapped == swapped && (i.op == "store" || i.op == "swap" || o.now == next)
		return ok, next
	},
	DescribeOperation: describe,
}

func applyTo(s int64, in input) (next int64, swapped bool) {
	switch in.op {
	case "store":
		return in.a, false
	case "add":
		return s + in.a, false
	case "triple":
		return triple(s), false
	case "swap":
		if s == in.a {
			return in.b, true
		}
	}
	return s, false
}

// triple is a change whose order matters.
func triple(n int64) int64 { return (3*n + 1) % 1000 }

// sequenceModel gives larger and larger numbers.
var sequenceModel = porcupine.Model{
	Init: func() any { return int64(0) },
	Step: func(state, _, out any) (bool, any) {
		last, o := state.(int64), out.(output)
		if o.unknown {
			return true, last
		}
		return o.now > last, o.now
	},
	DescribeOperation: describe,
}

func describe(in, out any) string { return fmt.Sprintf("%v: %v", in, out) }
