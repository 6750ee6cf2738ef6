package state_test

import (
	"context"
	"fmt"
	"time"

	"github.com/gocurator/curator/internal/exampletest"
	"github.com/gocurator/curator/state"
)

// The policies differ in one state: while there is no connection, and the
// session may still live.
func ExampleErrorPolicy_IsError() {
	for _, s := range []state.State{state.Connected, state.Suspended, state.Lost, state.Reconnected} {
		fmt.Printf("%-11v  %-5v  %v\n", s, state.SessionPolicy.IsError(s), state.StandardPolicy.IsError(s))
	}
	// Output:
	// Connected    false  false
	// Suspended    false  true
	// Lost         true   true
	// Reconnected  false  false
}

// A client goes through these states when its connection breaks, and when its
// session ends.
func Example() {
	client, srv, done := exampletest.Connect()
	defer done()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()

	fmt.Println(client.State())
	states := client.States(ctx) // from now on
	srv.Session(client.SessionID()).Cut()
	var times int
	for s := range states {
		fmt.Println(s)
		if s != state.Reconnected {
			continue
		}
		if times++; times == 2 {
			break
		}
		srv.Session(client.SessionID()).Expire()
	}
	// Output:
	// Connected
	// Suspended
	// Reconnected
	// Suspended
	// Lost
	// Reconnected
}
