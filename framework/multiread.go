package framework

import (
	"bytes"
	"context"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/proto"
)

// NodeRead is what MultiRead has read of one node.
type NodeRead struct {
	Data []byte
	Stat *zk.Stat

	// Err is nil, zk.ErrNoNode, or another refusal of the server for this node
	// alone. Without an error, the Stat is not nil.
	Err error
}

// MultiRead reads the data of several nodes with one request, and returns a
// NodeRead for each path, in the same order. All of them are as of the one
// transaction that zxid names: a server carries out no transaction while it
// carries out a request that reads.
//
// The paths and the data must fit into one request and one answer. A request
// that is longer than WithMaxRequestSize allows is ErrRequestTooLarge. Servers
// know the request since 3.6.
//
// The error is an *OpError. It is about no node in particular, but for a path
// that is not valid. Without paths, it matches zk.ErrBadArguments, as a
// *ConfigError.
func (e Extension) MultiRead(ctx context.Context, paths ...string) (nodes []NodeRead, zxid int64, err error) {
	if len(paths) == 0 {
		return nil, 0, &OpError{"multiRead", "", &ConfigError{Name: "paths", Value: "none", Reason: "must not be empty"}}
	}
	full := make([]string, len(paths))
	for i, path := range paths {
		if err := validatePath(path); err != nil {
			return nil, 0, &OpError{"multiRead", path, err}
		}
		full[i] = e.full(path)
	}
	answer, err := read(ctx, e.Client, "multiRead", paths[0], proto.MultiRead(full...))
	switch {
	case err != nil:
		return nil, 0, err
	case len(answer.Reads) != len(paths):
		return nil, 0, &OpError{"multiRead", paths[0], errMalformedAnswer}
	}
	nodes = make([]NodeRead, len(paths))
	for i, r := range answer.Reads {
		if r.Code != proto.CodeOK {
			nodes[i].Err = errorOf(r.Code)
			continue
		}
		if r.Stat == nil {
			return nil, 0, &OpError{"multiRead", paths[i], errMalformedAnswer}
		}
		// A node that is kept must not keep the whole answer.
		nodes[i] = NodeRead{Data: bytes.Clone(r.Data), Stat: (*zk.Stat)(r.Stat)}
	}
	return nodes, answer.Zxid, nil
}
