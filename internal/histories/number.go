package histories

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// Add is asked for by those who add to a number. They are told what it is then, an
// int64.
type Add struct{ Delta int64 }

// Load is asked for by those who read a number. They are told what it is.
type Load struct{}

// Number is a number that begins with zero.
var Number = porcupine.Model{
	Init: func() any { return int64(0) },
	Step: func(state, asked, told any) (bool, any) {
		now := state.(int64)
		switch a := asked.(type) {
		case Load:
		case Add:
			now += a.Delta
		default:
			panic(fmt.Sprintf("a number is not asked for a %T", asked))
		}
		_, open := told.(unknown)
		return open || told == now, now
	},
	DescribeOperation: describe,
}
