package histories

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// Set is asked for by those who write a value, whatever it was.
type Set struct{ Value string }

// Swap is asked for by those who write a value if it is another one before. They
// are told Done.
type Swap struct{ Old, New string }

// Value is a value that begins with this one. It may also be asked for a Read.
func Value(first string) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return first },
		Step: func(state, asked, told any) (bool, any) {
			_, open := told.(unknown)
			switch a := asked.(type) {
			case Read:
				return told == state, state
			case Set:
				return true, a.Value
			case Swap:
				swaps := state == a.Old
				if swaps {
					state = a.New
				}
				return open || told == Done(swaps), state
			}
			panic(fmt.Sprintf("a value is not asked for a %T", asked))
		},
		DescribeOperation: describe,
	}
}
