//go:build !unix

package zktest

import (
	"net"
)

// instantWriter returns nil: here a connection cannot write without waiting.
func instantWriter(net.Conn) func([]byte) int { return nil }
