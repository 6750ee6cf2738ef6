package memnet

import "net"

// Addr is an address of the in-memory network.
type Addr string

// Network returns "tcp", because clients expect connections of that kind.
func (Addr) Network() string { return "tcp" }

// String returns the address itself.
func (a Addr) String() string { return string(a) }

// DialError returns an error of the type that [net.Dial] returns.
func DialError(network, address string, err error) error {
	return &net.OpError{Op: "dial", Net: network, Addr: Addr(address), Err: err}
}
