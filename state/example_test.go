package state_test

import (
	"fmt"

	"github.com/gocurator/curator/state"
)

// A server that went away for too long: the old session is lost before the new one is told.
func ExampleMachine() {
	var m state.Machine
	for _, in := range []state.Input{
		state.Established(0x1001), state.Disconnected(), state.Established(0x1002),
	} {
		fmt.Println(m.Apply(in))
	}
	// Output:
	// [Connected]
	// [Suspended]
	// [Lost Reconnected]
}
