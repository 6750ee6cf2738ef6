package framework

import (
	"context"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/proto"
)

// SyncQuorum is Sync without exceptions: a later read in the same session, at any
// server, sees every write that was acknowledged to any client before the call. Use
// InSession to keep both in one session.
//
// SyncQuorum is a transaction that changes nothing and needs no rights. It costs the
// ensemble as much as a write. A partitioned server does not answer; when its
// connection ends, the client tries another server.
func (c *Client) SyncQuorum(ctx context.Context) error {
	return c.do(ctx, "sync", "/", nil, passQuorum)
}

// Sync waits until the client's server has caught up with its leader. A later read sees
// every write that was acknowledged to any client before the call, with two exceptions.
// Both concern leaders, which answer the syncs of their own clients at once:
//
//   - A leader may not have applied writes yet that its followers have already
//     acknowledged. The read may be some milliseconds old.
//   - A leader that is partitioned from its followers continues for up to syncLimit
//     times tickTime and a tick, and so do followers that still reach it. The read may
//     be old by that time, while other clients write at the next leader. The client
//     stays at that leader as long as it gets answers. With WithStrictContact, its
//     session ends within the timeout.
//
// In the second case, the client reads the state at the time of the partition: an old
// number, which leads to a refused CompareAndSwap, a group without its new members, a
// barrier that is not up yet. Writes are safe, because that leader does not answer
// them.
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
// version, the error matches ErrOutcomeUnknown: the caller reads the node and decides.
// If the data is unique, for example because of a random id, the read is conclusive
// unless another client has written since.
//
// Set may send data several times. The caller must not change data until Set returns.
func (c *Client) Set(ctx context.Context, path string, data []byte, version int32) (*zk.Stat, error) {
	return writeStat(ctx, c, "set", path, proto.SetData(c.full(path), data, version), version)
}

// writeStat runs an operation of one request that changes a node of the given
// version and returns its Stat.
func writeStat(
	ctx context.Context, c *Client, op, path string, q proto.Request[*zk.Stat], version int32,
) (*zk.Stat, error) {
	w := write[statWrite, *zk.Stat]{of: statWrite{q}, send: statWrite.send, onLostReply: ofVersion(version)}
	return w.do(ctx, c, op, path)
}

type statWrite struct{ proto.Request[*zk.Stat] }

func (q statWrite) send(ctx context.Context, s *Session) (*zk.Stat, error) {
	return send(ctx, s, q.Request, nil)
}

// passQuorum returns when the server has applied a transaction of this session,
// which a majority has committed. The session's later reads see all writes that were
// acknowledged before the transaction. The later reads also see all writes of the
// session's earlier connections, except the writes that will never be applied.
//
// A sync at a leader is weaker, because a leader answers its own clients' syncs at
// once, like a read. That is too early if the leader has not applied writes yet that
// its followers have acknowledged, or if it is partitioned and the other servers have a
// new leader. Such a leader does not answer a transaction.
func passQuorum(ctx context.Context, s *Session) error {
	answer, err := send(ctx, s, proto.CheckOfRoot, nil)
	if err == nil && !answer.IsCommitted() {
		err = errorOf(answer.Code)
	}
	return err
}

// afterQuorum makes the read that decides the outcome of a write whose reply was lost.
func afterQuorum[T any](ctx context.Context, s *Session, q proto.Request[T]) (T, error) {
	if err := passQuorum(ctx, s); err != nil {
		var none T
		return none, err
	}
	return send(ctx, s, q, nil)
}
