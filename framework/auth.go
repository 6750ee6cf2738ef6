package framework

import (
	"bytes"
	"context"
	"slices"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/framework/internal/transport"
)

// WithAuth adds credentials, such as WithAuth("digest",
// []byte("user:password")). Every connection is authenticated with all of them
// before anything else is sent on it, in this session and in later ones. It may
// be given several times.
//
// If no server lets the client in, and one refuses the credentials, operations
// fail at once with an error that matches zk.ErrAuthFailed and says which
// credentials. The log has one line for it. The client goes on trying to
// connect, with pauses that grow to half a minute, and leaves no session
// behind. While it has a session to lose, the pauses stay as short as always.
// One server that refuses what the others take is passed over.
func WithAuth(scheme string, auth []byte) Option {
	cred := transport.Credentials{Scheme: scheme, Auth: bytes.Clone(auth)} // its memory may be cleared before New
	return func(c *config) { c.auth = append(c.auth, cred) }
}

// AddAuth is WithAuth at any time: it authenticates the present connection and,
// if the server takes the credentials, every later one. Credentials cannot be
// taken back. Refused ones are zk.ErrAuthFailed, and cost the connection: the
// server closes it.
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
		err := s.start(ctx, &p.Call)
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
