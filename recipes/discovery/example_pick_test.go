package discovery_test

import (
	"fmt"

	"github.com/gocurator/curator/recipes/discovery"
)

// Each request goes to the next instance. The Picker ejects a failing instance.
func ExamplePicker() {
	picker, err := discovery.NewPicker(discovery.RoundRobin())
	if err != nil {
		panic(err)
	}
	picker.Update([]*discovery.Entry{ // Snapshot.Entries of a Directory, each time that it changes
		{Instance: discovery.Instance{ID: "orders-1", Address: "10.0.0.1", Port: 80, Disabled: true}}, // it drains
		{Instance: discovery.Instance{ID: "orders-2", Address: "10.0.0.2", Port: 80}},
	})
	instance, call, err := picker.Pick()
	if err != nil {
		panic(err)
	}
	err = request(instance.HostPort())
	call.Done(err)
	// Output: GET 10.0.0.2:80
}

func request(address string) error {
	fmt.Println("GET", address)
	return nil
}
