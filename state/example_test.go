package state_test

import (
	"fmt"

	"github.com/gocurator/curator/state"
)

// The server went away for too long. Listeners see that the old session is Lost
// before they see the new one.
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
