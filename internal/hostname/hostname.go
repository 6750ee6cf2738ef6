// Package hostname has the name of this machine for nodes and spans.
package hostname

import (
	"os"
	"sync"
)

// Get returns the name of this machine, or an empty text if there is none. Get asks the
// system once.
var Get = sync.OnceValue(func() string {
	host, err := os.Hostname()
	if err != nil {
		return ""
	}
	return host
})
