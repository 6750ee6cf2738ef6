// Package sasl has what framework.WithSASL needs to authenticate a client by SASL
// (RFC 4422): the interface of a mechanism, and the mechanism DIGEST-MD5. Kerberos
// is in the module contrib/kerberos.
//
// SASL proves who the client is, and with DIGEST-MD5 and Kerberos also that the
// server knows the client. SASL encrypts nothing: combine it with framework.WithTLS.
package sasl

import (
	"context"
	"fmt"
)

// Mechanism authenticates a client to ZooKeeper's servers. Each connection has its
// own Exchange. A Mechanism is safe for concurrent use.
type Mechanism interface {
	// Name returns the mechanism's registered name, such as "DIGEST-MD5" or
	// "GSSAPI". Errors and logs show the name. ZooKeeper's protocol does not send it:
	// the server's configuration selects the mechanism.
	Name() string

	// Principal returns the identity to authenticate. Errors and logs show the
	// principal, so it must not contain a secret.
	Principal() string

	// Start begins the exchange with one server, and returns the first message to
	// send. In ZooKeeper's protocol, the client always sends the first message: a
	// mechanism in which the server speaks first returns an empty one.
	//
	// The server is the host that the client has dialled, as the connection string
	// or framework.WithServers names it: a host name or an IP address, without the
	// port and without the brackets of an IPv6 address.
	//
	// The client calls Start when the connection is open, and before it asks for the
	// session. Start may wait, for example for a Kerberos KDC, and must return soon
	// after ctx ends. If its error wraps an *Error, that is a refusal. Any other error
	// ends the attempt to connect, and the client tries the next server.
	Start(ctx context.Context, server string) (Exchange, []byte, error)
}

// Exchange is one authentication on one connection. Only one goroutine uses it.
type Exchange interface {
	// Step takes the server's message and returns the client's next message.
	// The challenge is nil if the server's answer has none, and valid during
	// the call only. Step must not wait.
	//
	// The client sends a response that is not nil, even an empty one. If done is
	// false, the server's answer goes to Step again. If done is true, Step has
	// checked everything that the server must prove. The exchange then succeeds as
	// soon as the server has accepted the last response, if there was one.
	//
	// A response of nil without done is an error. An error of Step is a refusal: the
	// client does not trust this server.
	Step(challenge []byte) (response []byte, done bool, err error)
}

// Error is a refusal: the server has refused the client, or the client does not
// trust what the server has sent. The client is not connected then.
//
// Mechanism and Principal are empty if the server requires authentication, and neither
// framework.WithSASL nor framework.WithAuth has given what it accepts.
type Error struct {
	Mechanism string // such as "DIGEST-MD5"
	Principal string

	// Code is the server's answer, as in ZooKeeper's KeeperException.Code: -115
	// for a refusal, -124 if the server also requires SASL. It is 0 if the server
	// has refused nothing.
	Code int32

	Err error // why the client has ended the exchange, or nil
}

// Error returns a sentence with the mechanism, the principal, and the server's code
// or the client's reason.
func (e *Error) Error() string {
	who := fmt.Sprintf("SASL %s as %q", e.Mechanism, e.Principal)
	switch {
	case e.Err != nil:
		return who + ": " + e.Err.Error()
	case e.Mechanism == "":
		return fmt.Sprintf("the server requires authentication (%d): set framework.WithSASL or framework.WithAuth", e.Code)
	}
	return fmt.Sprintf("%s: the server refused (%d): user, password or ticket may be wrong", who, e.Code)
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }
