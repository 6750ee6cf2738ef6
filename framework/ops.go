package framework

import (
	"context"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/proto"
)

// do runs an operation. All operations come this way: it checks the path, and
// tells the hooks. The write is nil for an operation that changes nothing.
func (c *Client) do(ctx context.Context, op, path string, w writing, try attempt) error {
	if err := validatePath(path); err != nil {
		return &OpError{op, path, err}
	}
	if c.hooks.Len() > 0 {
		return c.told(ctx, op, path, w, try)
	}
	return c.run(ctx, op, path, w, try)
}

// read runs an operation of one request that changes nothing, so that every
// attempt is as good as the first.
func read[T any](ctx context.Context, c *Client, op, path string, q proto.Request[T]) (T, error) {
	var v T
	err := c.do(ctx, op, path, nil, func(ctx context.Context, s *Session) (err error) {
		v, err = send(ctx, s, q, nil)
		return err
	})
	return v, err
}

// Get returns a node's data and Stat. A missing node is zk.ErrNoNode.
func (c *Client) Get(ctx context.Context, path string) ([]byte, *zk.Stat, error) {
	r, err := read(ctx, c, "get", path, proto.GetData(c.full(path), false))
	return r.Data, (*zk.Stat)(r.Stat), err
}

// Exists returns whether there is a node, and its Stat if there is.
func (c *Client) Exists(ctx context.Context, path string) (bool, *zk.Stat, error) {
	stat, err := read(ctx, c, "exists", path, proto.Exists(c.full(path), false))
	return stat != nil, (*zk.Stat)(stat), err
}

// Children returns the names of a node's children, in no particular order, and
// the node's Stat. A missing node is zk.ErrNoNode.
func (c *Client) Children(ctx context.Context, path string) ([]string, *zk.Stat, error) {
	r, err := read(ctx, c, "children", path, proto.Children(c.full(path), false))
	return r.Names, (*zk.Stat)(r.Stat), err
}

// SyncQuorum is Sync without exceptions: a read that follows it in the same
// session sees everything that was acknowledged before the call, to whomever,
// at every server. InSession keeps the two together.
//
// It is a transaction that changes nothing and needs no rights. It costs the
// ensemble as much as a write. A server that is cut off does not answer it. The
// client tries again, at another server, when that connection ends.
func (c *Client) SyncQuorum(ctx context.Context) error {
	return c.do(ctx, "sync", "/", nil, passQuorum)
}

// Sync waits until the server that this client is connected to has caught up
// with its leader. A read that follows it sees everything that was acknowledged
// before the call, to whomever, with two exceptions. Both are about leaders,
// which answer the syncs of their own clients at once:
//
//   - A leader may not have applied yet what its followers have acknowledged
//     already. The read may be older by some milliseconds.
//   - A leader that is cut off from its followers goes on for up to syncLimit
//     times tickTime and a tick, and so do followers that still reach it. The
//     read may be older by that time, while others write at the next leader.
//     The client stays there as long as it is answered. WithStrictContact ends
//     its session within the timeout.
//
// What a client that is cut off reads in the second case is what was there at
// the cut: an old number, and so a CompareAndSwap that is refused, a group
// without its new members, a barrier that is not up yet. Writes are safe: that
// leader does not answer them.
//
// SyncQuorum has no exceptions.
func (c *Client) Sync(ctx context.Context, path string) error {
	_, err := read(ctx, c, "sync", path, proto.Sync(c.full(path)))
	return err
}

// Set writes a node's data if the node has the given version, and returns its
// new Stat. AnyVersion always matches. A missing node is zk.ErrNoNode, another
// version zk.ErrBadVersion.
//
// If the reply is lost, a write with AnyVersion is repeated. For a write with a
// version, the error matches ErrOutcomeUnknown: the caller reads the node and
// decides. Data that differs from every other caller's, such as a random id in
// it, makes that decision certain for as long as no other client has written
// since.
//
// Set reads data until it returns, and may send it several times. Nobody may change
// data before that.
func (c *Client) Set(ctx context.Context, path string, data []byte, version int32) (*zk.Stat, error) {
	return writeStat(ctx, c, "set", path, proto.SetData(c.full(path), data, version), version)
}

// writeStat runs an operation of one request that changes a node of the given
// version and returns its Stat.
func writeStat(
	ctx context.Context, c *Client, op, path string, q proto.Request[*proto.Stat], version int32,
) (*zk.Stat, error) {
	w := write[statWrite, *proto.Stat]{of: statWrite{q}, send: statWrite.send, onLostReply: ofVersion(version)}
	stat, err := w.do(ctx, c, op, path)
	return (*zk.Stat)(stat), err
}

type statWrite struct{ proto.Request[*proto.Stat] }

func (q statWrite) send(ctx context.Context, s *Session) (*proto.Stat, error) {
	return send(ctx, s, q.Request, nil)
}
