package connstate_test

import (
	"fmt"

	"github.com/gocurator/curator/framework/internal/connstate"
)

// The server went away for too long. Listeners see that the old session is Lost
// before they see the new one.
func ExampleMachine() {
	var m connstate.Machine
	fmt.Println(m.Established(0x1001))
	fmt.Println(m.Disconnected())
	fmt.Println(m.Established(0x1002))
	// Output:
	// [Connected]
	// [Suspended]
	// [Lost Reconnected]
}
