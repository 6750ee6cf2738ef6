package caddystorage_test

import (
	"fmt"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gocurator/curator/contrib/certmagic/caddystorage"
)

// This block follows "storage" in a Caddyfile.
func Example() {
	var storage caddystorage.Storage
	err := storage.UnmarshalCaddyfile(caddyfile.NewTestDispenser(`
		curator {
			servers zk1:2181,zk2:2181,zk3:2181
			root /certificates
			auth {env.ZOOKEEPER_AUTH}
		}`))
	fmt.Println(storage.Servers, storage.Root, err)
	// Output: zk1:2181,zk2:2181,zk3:2181 /certificates <nil>
}
