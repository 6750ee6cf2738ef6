//go:build !unix

package zktest

import (
	"net"
)

// tryWriter returns nil: here a connection cannot write without waiting.
func tryWriter(net.Conn) func([]byte) int { return nil }
