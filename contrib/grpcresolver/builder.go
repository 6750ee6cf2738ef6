package grpcresolver

import (
	"errors"
	"fmt"
	"net/url"
	"sync"

	"google.golang.org/grpc/resolver"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/discovery"
)

// scheme is the scheme of targets.
const scheme = "zookeeper"

// Builder makes resolvers for targets with the scheme zookeeper. Share one Builder
// among all channels of a process, by grpc.WithResolvers: channels of the same service
// then share a directory. A Builder is safe for concurrent use. It uses no resources
// when all channels are closed or idle, and need not be closed.
type Builder struct {
	clients   map[string]*framework.Client
	codecs    map[string]discovery.Codec
	directory []discovery.DirectoryOption
	config    bool
	fault     error // the error of an invalid option; or nil

	mu       sync.Mutex
	services map[key]*service
}

var (
	_ resolver.Builder            = (*Builder)(nil)
	_ resolver.AuthorityOverrider = (*Builder)(nil)
)

// NewBuilder returns a Builder. The client is for targets without a host part. Close the
// client after the channels. If an argument is invalid, such as a nil client, every channel
// that needs the argument returns an error.
func NewBuilder(client *framework.Client, opts ...Option) *Builder {
	b := &Builder{
		clients:  map[string]*framework.Client{"": client},
		codecs:   codecs(),
		services: map[key]*service{},
	}
	for _, opt := range opts {
		if opt == nil {
			b.fault = errors.New("option of NewBuilder: must not be nil")
			continue
		}
		opt(b)
	}
	return b
}

// Scheme implements resolver.Builder.
func (b *Builder) Scheme() string { return scheme }

// OverrideAuthority returns the name of the service without its path. Servers see that
// name as :authority, and TLS verifies it.
func (b *Builder) OverrideAuthority(of resolver.Target) string {
	t, err := parse(of)
	if err != nil {
		return url.PathEscape(of.Endpoint()) // Build returns the error
	}
	return t.authority()
}

// Build implements resolver.Builder. Build returns at once. An error means that the
// target or the Builder can never be used: gRPC does not call Build again after an
// error. Temporary problems, such as an outage, are reported to the channel.
func (b *Builder) Build(
	of resolver.Target, cc resolver.ClientConn, opts resolver.BuildOptions,
) (resolver.Resolver, error) {
	t, err := parse(of)
	if err != nil {
		return nil, fmt.Errorf("target %s: %w", of.URL.Redacted(), err)
	}
	s, err := b.acquire(t, b.config && !opts.DisableServiceConfig)
	if errors.Is(err, framework.ErrClosed) { //nolint:forbidigo // err comes from no context
		cc.ReportError(t.named(err))
		return closed{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("target %s: %w", of.URL.Redacted(), err)
	}
	return start(b, s, t, cc), nil
}

// closed is the resolver of a closed client.
type closed struct{}

func (closed) ResolveNow(resolver.ResolveNowOptions) {}
func (closed) Close()                                {}

func (t target) named(err error) error {
	return fmt.Errorf("%s: service %q below %q: %w", scheme, t.service, t.base, err)
}
