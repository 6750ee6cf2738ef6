package atomic_test

import (
	"errors"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
)

// The checker of histories rejects what must not be: among them one increment
// that has counted twice, as in Curator when a reply is lost.
func TestCheckerOfHistories(t *testing.T) {
	add := func(now int64) event { return event{input{op: "add", a: 1}, output{now: now}, nil} }
	load := func(now int64) event { return event{input{op: "load"}, output{now: now}, nil} }
	lost := event{input{op: "add", a: 1}, output{}, framework.ErrOutcomeUnknown}
	notApplied := event{input{op: "add", a: 1}, output{}, errors.New("refused")}
	swap := func(old, now int64, swapped bool) event {
		return event{input{op: "swap", a: old, b: now}, output{swapped: swapped}, nil}
	}
	next := func(now int64) event { return event{input{op: "next"}, output{now: now}, nil} }
	for _, c := range []struct {
		name   string
		model  porcupine.Model
		events []event
		ok     bool
	}{
		{"counts", numberModel, []event{add(1), add(2), load(2)}, true},
		{"one increment counts twice", numberModel, []event{add(2), load(2)}, false},
		{"two increments count once", numberModel, []event{add(1), add(1)}, false},
		{"unknown, and applied", numberModel, []event{lost, load(1)}, true},
		{"unknown, and applied later", numberModel, []event{lost, load(0), load(1)}, true},
		{"unknown, and never applied", numberModel, []event{lost, load(0)}, true},
		{"unknown, and applied twice", numberModel, []event{lost, load(1), load(2)}, false},
		{"said to be not applied, but it was", numberModel, []event{notApplied, load(1)}, false},
		{"stale read", numberModel, []event{add(1), load(0)}, false},
		{"swap", numberModel, []event{add(1), swap(1, 5, true), swap(1, 6, false), load(5)}, true},
		{"swap without a match", numberModel, []event{add(1), swap(2, 5, true)}, false},
		{"swap in spite of a match", numberModel, []event{add(1), swap(1, 5, false)}, false},
		{"rising numbers", sequenceModel, []event{next(5), next(9)}, true},
		{"a number twice", sequenceModel, []event{next(5), next(5)}, false},
		{"a number that falls", sequenceModel, []event{next(5), next(4)}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var h history
			for i, e := range c.events {
				require.Equal(t, e.err, h.do(i, e.in, func() (output, error) { return e.out, e.err }))
			}
			want := porcupine.Illegal
			if c.ok {
				want = porcupine.Ok
			}
			require.Equal(t, want, h.check(c.model))
		})
	}
}

// event is an operation that ends before the next one begins.
type event struct {
	in  input
	out output
	err error
}
