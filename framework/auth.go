package framework

import (
	"bytes"
	"context"
	"net"
	"slices"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/sasl"
	"github.com/gocurator/curator/internal/reason"
)

// WithSASL authenticates every connection by SASL before any other request, in this
// session and in later ones. Access control lists name such a client by the scheme
// "sasl". [sasl.DigestMD5] is one mechanism, and contrib/kerberos has another. WithSASL
// can be combined with WithAuth.
//
// The client never continues without authentication: it does not use a server that does
// not authenticate it. If no server accepts the client and one refuses it, operations
// and Connect fail at once with an error that matches zk.ErrAuthFailed; errors.As finds
// a *[sasl.Error] in the error. The client then keeps trying to connect as WithAuth
// describes. If a Kerberos KDC does not answer, operations wait, as for a server that
// does not answer, and the session survives if the KDC is back in time.
func WithSASL(m sasl.Mechanism) Option {
	return func(c *config) {
		c.sasl = m
		c.require("SASL mechanism", present(m))
	}
}

// startSASL begins an exchange with the server at the other end of nc, and closes nc
// after an error. Without a mechanism, it returns nil.
func startSASL(ctx context.Context, m sasl.Mechanism, nc net.Conn, address string) (*transport.SASL, error) {
	if m == nil {
		return nil, nil
	}
	s := &transport.SASL{Mechanism: m}
	host, _, err := net.SplitHostPort(address)
	if err == nil {
		s.Exchange, s.First, err = m.Start(ctx, host)
	}
	if err == nil && !present(s.Exchange) {
		err = &sasl.Error{Mechanism: m.Name(), Principal: m.Principal(), Err: isNil("exchange")}
	}
	if err == nil {
		return s, nil
	}
	nc.Close()
	var refused *sasl.Error
	if reason.As(err, &refused) {
		return nil, err
	}
	return nil, reason.Foreign(err) // the error comes from the user's code
}

// WithAuth adds credentials, such as WithAuth("digest", []byte("user:password")). The
// client authenticates every connection with all credentials before any other request,
// in this session and in later ones. WithAuth may be given several times.
//
// If no server accepts the client and one refuses the credentials, operations fail at
// once with an error that matches zk.ErrAuthFailed and names the credentials. The same
// happens to a client without credentials if the servers require some: errors.As then
// finds a *[sasl.Error] with the code -124. The log has one line. The client keeps trying
// to connect, with pauses that grow to half a minute. It leaves no session behind, except
// on a server that requires authentication even to end a session. While the client has a
// session to lose, the pauses stay short. If only one server refuses the credentials, the
// client uses the others.
func WithAuth(scheme string, auth []byte) Option {
	cred := transport.Credentials{Scheme: scheme, Auth: bytes.Clone(auth)} // the caller may clear auth before New
	return func(c *config) { c.auth = append(c.auth, cred) }
}

// AddAuth is WithAuth at any time: it authenticates the present connection and, if the
// server accepts the credentials, every later one. Credentials cannot be removed. If
// the server refuses the credentials, the error matches zk.ErrAuthFailed, and the
// server closes the connection.
func (c *Client) AddAuth(ctx context.Context, scheme string, auth []byte) error {
	cred := transport.Credentials{Scheme: scheme, Auth: bytes.Clone(auth)}
	if err := validateCredentials(cred); err != nil {
		return &OpError{"auth", "/", err}
	}
	return c.do(ctx, "auth", "/", nil, func(ctx context.Context, s *Session) error {
		p := newPending(s, proto.Auth(cred.Scheme, cred.Auth))
		p.Then = func(code int32, err error) {
			if code == proto.CodeOK && err == nil {
				c.remember(cred) // here, so that the next connection has the credentials
			}
		}
		err := start(ctx, s, &p.Call)
		if err == nil {
			_, err = p.await(ctx, nil)
		}
		return err
	})
}

func (c *Client) remember(cred transport.Credentials) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, known := range c.auth {
		if known.Scheme == cred.Scheme && bytes.Equal(known.Auth, cred.Auth) {
			return
		}
	}
	c.auth = append(c.auth, cred)
}

func (c *Client) credentials() []transport.Credentials {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.auth)
}
