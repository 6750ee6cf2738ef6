package histories

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// Write is a write to a register that refuses old tokens. Its answer is Done.
type Write struct {
	Token int64
	Value string
}

// Read is a read of the register. Its answer is the value.
type Read struct{}

// Done is true if a write was accepted, and false if it was refused because of its
// token.
type Done bool

type register struct {
	value string
	last  int64
}

// FencedRegister is a register that accepts a write unless an earlier write had a
// larger token.
var FencedRegister = porcupine.Model{
	Init: func() any { return register{} },
	Step: func(state, asked, told any) (bool, any) {
		r := state.(register)
		switch a := asked.(type) {
		case Read:
			return told == r.value, r
		case Write:
			accepted := a.Token >= r.last
			if _, open := told.(unknown); !open && told != Done(accepted) {
				return false, r
			}
			if accepted {
				r = register{a.Value, a.Token}
			}
			return true, r
		}
		panic(fmt.Sprintf("a register cannot process a %T", asked))
	},
	DescribeOperation: describe,
}
