package grpcresolver

import (
	"slices"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/discovery"
)

// Option configures a Builder.
type Option func(*Builder)

// WithClient registers a client under a name, which is the host part of
// targets: zookeeper://prod/services/orders.
func WithClient(name string, client *framework.Client) Option {
	return func(b *Builder) { b.clients[name] = client }
}

// WithCodec registers a format under a name, which targets have as the
// parameter codec. The name "curator" is the format of targets without that
// parameter.
func WithCodec(name string, codec discovery.Codec) Option {
	return func(b *Builder) { b.codecs[name] = codec }
}

// WithDirectoryOptions sets the options of all directories, such as their
// removal grace.
func WithDirectoryOptions(opts ...discovery.DirectoryOption) Option {
	return func(b *Builder) { b.directory = slices.Clone(opts) }
}

// WithServiceConfig takes the data of a service's own node for the service
// config of its channels: JSON that says how to balance and to retry. Without
// this option, nobody reads these data. A channel with
// grpc.WithDisableServiceConfig does not read them either. Who may write to the
// node then decides that.
//
// Data that are no service config change nothing, and are reported as an error
// of the resolver.
func WithServiceConfig() Option {
	return func(b *Builder) { b.config = true }
}

// codecs returns the formats that need no registration.
func codecs() map[string]discovery.Codec {
	return map[string]discovery.Codec{
		defaultCodec: discovery.CuratorCodec(),
		"spring":     discovery.SpringCodec(),
		"dubbo":      discovery.DubboCodec(),
		"serverset":  discovery.ServersetCodec(),
	}
}

const defaultCodec = "curator"
