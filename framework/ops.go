package framework

import (
	"context"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/proto"
)

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

// checkOfRoot is a transaction that changes nothing. It needs no rights: a
// server proposes it also if the client may not read "/".
var checkOfRoot = proto.Multi(proto.Check("/", proto.AnyVersion).Part())

// passQuorum returns when the server has applied a transaction of this session,
// which a majority has committed. Reads of the session that follow it see all
// writes that were acknowledged before, and all writes of the session's earlier
// connections that will ever be applied.
//
// A sync does not promise that at a leader. It answers its own clients at once,
// like a read. That is too early at a leader that has not applied yet what its
// followers have acknowledged, and at one that is cut off, while the others
// have the next leader. Such a leader does not answer a transaction.
func passQuorum(ctx context.Context, s *Session) error {
	answer, err := send(ctx, s, checkOfRoot, nil)
	if err != nil {
		return err
	}
	return committed(answer)
}

// committed returns nil if a majority has committed the check. A check that is refused for lack
// of permission is committed, too. A check in a session that is over, or on another server,
// proves nothing.
func committed(answer proto.MultiAnswer) error {
	if answer.Failed < 0 || answer.Code == proto.CodeNoAuth {
		return nil
	}
	return errorOf(answer.Code)
}

// afterQuorum makes the read that decides what has become of a write whose reply
// was lost.
func afterQuorum[T any](ctx context.Context, s *Session, q proto.Request[T]) (T, error) {
	if err := passQuorum(ctx, s); err != nil {
		var none T
		return none, err
	}
	return send(ctx, s, q, nil)
}
