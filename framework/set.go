package framework

import (
	"bytes"
	"context"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/proto"
)

// Set writes a node's data if the node has the given version, and returns its
// new Stat. AnyVersion always matches. A missing node is zk.ErrNoNode, another
// version zk.ErrBadVersion.
//
// If the reply is lost, a write with AnyVersion is repeated. For a write with a
// version, the error matches ErrOutcomeUnknown: the caller reads the node and
// decides. Data that differs from every other caller's, such as a random id in
// it, makes that decision certain for as long as no other client has written
// since.
func (c *Client) Set(ctx context.Context, path string, data []byte, version int32) (*zk.Stat, error) {
	data = bytes.Clone(data) // the request may be on its way after ctx has ended
	return writeStat(ctx, c, "set", path, proto.SetData(c.full(path), data, version), version)
}

// writeStat runs an operation of one request that changes a node of the given
// version and returns its Stat.
func writeStat(
	ctx context.Context, c *Client, op, path string, q proto.Request[*proto.Stat], version int32,
) (*zk.Stat, error) {
	w := write[*proto.Stat]{
		send:        func(ctx context.Context, s *Session) (*proto.Stat, error) { return send(ctx, s, q, nil) },
		onLostReply: ofVersion(version),
	}
	stat, err := w.do(ctx, c, op, path)
	return (*zk.Stat)(stat), err
}
