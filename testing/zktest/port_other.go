//go:build !linux

package zktest

import "net"

// The port stays open: a server that is stopped accepts connections, and closes
// them at once.
func closePort(net.Listener) {}
func openPort(net.Listener)  {}
