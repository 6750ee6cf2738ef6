package framework

import (
	"bytes"
	"context"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/internal/reason"
)

// SetOption configures a Set.
type SetOption func(*setConfig)

type setConfig struct {
	idempotent bool
}

// WithIdempotentSet makes a Set succeed if the node has the next version and this
// data already, from this caller or another. It is for the same call made a
// second time, after the process was restarted or the result was lost on the
// way to the user. It needs the right to read the node.
func WithIdempotentSet() SetOption {
	return func(c *setConfig) { c.idempotent = true }
}

// Set writes a node's data if the node has the given version, and returns its
// new Stat. AnyVersion always matches. A missing node is zk.ErrNoNode, another
// version zk.ErrBadVersion.
//
// If the connection breaks while the reply is awaited:
//
//   - A write with AnyVersion is repeated.
//   - A write with a version is looked up. It counts as done if the node has
//     the next version and this data. It is repeated if the node still has the
//     old version, and was there before the request. Otherwise the error matches
//     ErrOutcomeUnknown.
//
// If the look takes place in a later session, the first request may still come
// behind it: a server has stalled with it. If the repeated one fails then, the
// error matches ErrOutcomeUnknown. If it succeeds, the first one is refused, unless
// somebody has made the node anew meanwhile, and it has the old version again.
//
// Somebody may delete a node and make it anew, and the new one has version 0
// again. So a node tells nothing if it is newer than what this client has read
// and written: whoever takes the version from a read is safe from that.
//
// The error also matches ErrOutcomeUnknown if ctx ends while the reply is
// awaited.
//
// Two callers that write the same data over the same version are not told
// apart. Callers that may do so, such as two that count up a number, must put
// something into the data that distinguishes them.
func (c *Client) Set(ctx context.Context, path string, data []byte, version int32, opts ...SetOption) (*zk.Stat, error) {
	var cfg setConfig
	if err := apply(&cfg, opts); err != nil {
		return nil, &OpError{"set", path, err}
	}
	data = bytes.Clone(data) // a request outlasts a caller whose ctx ends
	return newSet(c.full(path), data, version, cfg).do(ctx, c, "set", path)
}

func newSet(path string, data []byte, version int32, cfg setConfig) *write[*zk.Stat] {
	o := &set{path: path, data: data, version: version}
	w := &write[*zk.Stat]{send: o.send, onLostReply: ofVersion(version), resolve: o.resolve}
	o.existed = w.existed
	if cfg.idempotent {
		w.attempt = func(ctx context.Context, s *Session) (*zk.Stat, error) {
			stat, err := w.request(ctx, s)
			if reason.Is(err, zk.ErrBadVersion) {
				return o.acceptEqual(ctx, s, err)
			}
			return stat, err
		}
	}
	return w
}

// set is what a Set asks for.
type set struct {
	path    string
	data    []byte
	version int32
	existed func(*proto.Stat) bool // see write.existed
}

func (o *set) send(ctx context.Context, s *Session) (*zk.Stat, error) {
	stat, err := send(ctx, s, proto.SetData(o.path, o.data, o.version), nil)
	return (*zk.Stat)(stat), err
}

// resolve looks at the node. It is an error if the node is missing: somebody
// may have deleted it with our data in it.
func (o *set) resolve(ctx context.Context, s *Session) (*zk.Stat, bool, error) {
	now, err := afterQuorum(ctx, s, proto.GetData(o.path, false))
	switch {
	case err != nil:
		return nil, false, err
	case now.Stat.Version == o.version && o.existed(now.Stat):
		return nil, false, nil
	case now.Stat.Version == o.version:
		return nil, false, unknownOutcome(errAnew)
	case o.isDone(now):
		return (*zk.Stat)(now.Stat), true, nil
	default:
		return nil, false, unknownOutcome(fmt.Errorf("version is %d now", now.Stat.Version))
	}
}

// isDone reports whether the node is as our write leaves it.
func (o *set) isDone(now proto.Data) bool {
	return now.Stat.Version == o.version+1 && bytes.Equal(now.Data, o.data)
}

// acceptEqual turns a conflict of versions into success if somebody has written
// the same. The server that reported the conflict has seen the write that
// caused it, so there is no need for a sync.
func (o *set) acceptEqual(ctx context.Context, s *Session, conflict error) (*zk.Stat, error) {
	now, err := send(ctx, s, proto.GetData(o.path, false), nil)
	switch {
	case reason.Is(err, zk.ErrNoNode):
		return nil, conflict
	case err != nil:
		return nil, err
	case o.isDone(now):
		return (*zk.Stat)(now.Stat), nil
	}
	return nil, conflict
}
