package grpcresolver

import (
	"fmt"

	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/serviceconfig"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/discovery"
)

// configNode is the node of a service, whose data may be a service config.
type configNode struct {
	cache *cache.Cache
	path  string
}

func openConfig(client *framework.Client, base string, codec discovery.Codec, service string) (*configNode, error) {
	dir, err := codec.Dir(service)
	if err != nil {
		return nil, err
	}
	n := &configNode{path: dir}
	switch {
	case dir == "/": // the service is all that is below the base
		n.path = base
	case base != "/":
		n.path = base + dir
	}
	n.cache, err = cache.New(client, n.path, cache.WithDepth(0))
	return n, err
}

// text returns the data, and false if they are not known yet.
func (n *configNode) text() (string, bool) {
	node, _ := n.cache.Get(n.path)
	return string(node.Data), n.cache.Zxid() != 0
}

// config is the service config of a channel.
type config struct {
	text  string // the data that were read last
	good  *serviceconfig.ParseResult
	fault error // why text is no service config
}

// read takes the data of the node. What is no service config leaves the last
// good one in force: the data may be of a writer that knows nothing of gRPC.
func (c *config) read(text string, conn resolver.ClientConn) {
	if text == c.text {
		return
	}
	c.text, c.fault = text, nil
	if text == "" {
		c.good = nil
		return
	}
	parsed := conn.ParseServiceConfig(text)
	if parsed.Err != nil {
		c.fault = fmt.Errorf("data of the service's node: %w", parsed.Err)
		return
	}
	c.good = parsed
}
