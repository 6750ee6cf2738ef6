package connstate_test

import (
	"fmt"

	"github.com/gocurator/curator/framework/internal/connstate"
)

// The server went away for too long. Listeners see that the old session is Lost
// before they see the new one.
func ExampleMachine() {
	var m connstate.Machine
	for _, in := range []connstate.Input{
		connstate.Established(0x1001), connstate.Disconnected(), connstate.Established(0x1002),
	} {
		fmt.Println(m.Apply(in))
	}
	// Output:
	// [Connected]
	// [Suspended]
	// [Lost Reconnected]
}
