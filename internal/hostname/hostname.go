// Package hostname has the name of this machine, as nodes and spans say it.
package hostname

import (
	"os"
	"sync"
)

// Get returns the name of this machine, or nothing if it has none. It asks the
// system once.
var Get = sync.OnceValue(func() string {
	host, err := os.Hostname()
	if err != nil {
		return ""
	}
	return host
})
