package grpcresolver

import (
	"fmt"
	"sync/atomic"

	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/serviceconfig"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/cache"
)

// configNode is the node of a service, whose data may be a service config.
type configNode struct {
	cache  *cache.Cache
	path   string
	filled atomic.Bool // the data, or the absence of the node, are known
}

func openConfig(client *framework.Client, path string) (n *configNode, err error) {
	n = &configNode{path: path}
	n.cache, err = cache.New(client, path, cache.WithDepth(0))
	return n, err
}

// text returns the data.
func (n *configNode) text() string {
	node, _ := n.cache.Get(n.path)
	return string(node.Data)
}

// config is the service config of a channel.
type config struct {
	text  string // the data of the last read
	good  *serviceconfig.ParseResult
	fault error // why text is not a service config
}

// read takes over the data of the node. Data that are not a service config leave the
// last good one in force: the writer may know nothing of gRPC.
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
