package histories

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// Write is a write to a register that refuses old tokens. It is told Done.
type Write struct {
	Token int64
	Value string
}

// Read is a read of the register. It is told the value.
type Read struct{}

// Done says whether a write was accepted, or refused because of its token.
type Done bool

type register struct {
	value string
	last  int64
}

// FencedRegister is a register that accepts a write if its token is as large as
// all before it, or larger.
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
		panic(fmt.Sprintf("a register is not asked for a %T", asked))
	},
	DescribeOperation: describe,
}
