package recipes

import (
	"fmt"
	"os"
)

// identity is what our nodes say of their owner: host and process, for the errors of those who wait.
func identity() []byte {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Appendf(nil, "%s/%d", host, os.Getpid())
}

// maxIdentity bounds how much of a foreign node's data goes into an error.
const maxIdentity = 100

// readIdentity makes foreign data fit for an error message.
func readIdentity(data []byte) string {
	return string(data[:min(len(data), maxIdentity)])
}
