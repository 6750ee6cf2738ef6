package discovery_test

import (
	"encoding/json"
	"fmt"

	"github.com/gocurator/curator/recipes/discovery"
)

// Go writes and reads the format of Java instances.
func ExampleCuratorCodec() {
	type details struct{ Weight int }
	codec := discovery.CuratorCodec()
	weight, err := json.Marshal(map[string]any{"@class": "com.acme.Details", "weight": 7})
	if err != nil {
		panic(err)
	}
	name, data, err := codec.Encode(discovery.Instance{Service: "orders", ID: "a1", Address: "10.0.0.7", Port: 8080, Payload: weight})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s: %s\n", name, data)
	instance, err := codec.Decode("orders", name, data)
	if err != nil {
		panic(err)
	}
	fmt.Println(discovery.PayloadOf[details](instance))
	// Output:
	// a1: {"name":"orders","id":"a1","address":"10.0.0.7","port":8080,"sslPort":null,"payload":{"@class":"com.acme.Details","weight":7},"registrationTimeUTC":0,"serviceType":"DYNAMIC","uriSpec":null}
	// {7} <nil>
}
