package grpcresolver

import (
	"slices"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/discovery"
)

// Option configures a Builder: what the parts of a target mean ([WithClient], [WithCodec]),
// and how channels behave ([WithDirectoryOptions], [WithServiceConfig]).
type Option func(*Builder)

// WithClient registers a client under a name, which targets use as their host part:
// zookeeper://prod/services/orders.
func WithClient(name string, client *framework.Client) Option {
	return func(b *Builder) { b.clients[name] = client }
}

// WithCodec registers a format under a name, which targets use as the parameter codec.
// Targets without that parameter use the format named "curator".
func WithCodec(name string, codec discovery.Codec) Option {
	return func(b *Builder) { b.codecs[name] = codec }
}

// WithDirectoryOptions sets the options of all directories, such as their
// removal grace.
func WithDirectoryOptions(opts ...discovery.DirectoryOption) Option {
	return func(b *Builder) { b.directory = slices.Clone(opts) }
}

// WithServiceConfig uses the data of a service's own node as the service config of its
// channels: JSON that configures balancing and retries. Anyone who may write to the
// node can then change both. Without this option, or in a channel with
// grpc.WithDisableServiceConfig, the data have no effect.
//
// Data that are not a service config change nothing; the resolver reports an error.
func WithServiceConfig() Option {
	return func(b *Builder) { b.config = true }
}

// codecs returns the predefined formats.
func codecs() map[string]discovery.Codec {
	return map[string]discovery.Codec{
		defaultCodec: discovery.CuratorCodec(),
		"spring":     discovery.SpringCodec(),
		"dubbo":      discovery.DubboCodec(),
		"serverset":  discovery.ServersetCodec(),
	}
}

const defaultCodec = "curator"
