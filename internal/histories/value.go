package histories

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// Set is an unconditional write of a value.
type Set[T any] struct{ Value T }

// Swap is a write of the value New if the value is Old. Its answer is Done.
type Swap[T any] struct{ Old, New T }

// Update computes a new value from the present one. Its answer is the new value.
type Update[T any] struct {
	What string
	Of   func(T) T
}

// Add is an Update of a number.
func Add(delta int64) Update[int64] {
	return Update[int64]{fmt.Sprint("add ", delta), func(n int64) int64 { return n + delta }}
}

// Value is a value with this initial value. It also accepts a Read.
func Value[T comparable](first T) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return first },
		Step: func(state, asked, told any) (bool, any) {
			_, open := told.(unknown)
			switch a := asked.(type) {
			case Read:
				return told == state, state
			case Set[T]:
				return true, a.Value
			case Update[T]:
				next := a.Of(state.(T))
				return open || told == any(next), next
			case Swap[T]:
				swaps := state == any(a.Old)
				if swaps {
					state = a.New
				}
				return open || told == Done(swaps), state
			}
			panic(fmt.Sprintf("a value cannot process a %T", asked))
		},
		DescribeOperation: describe,
	}
}
