package framework

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/jute"
	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/retry"
)

// Operation codes of ZooKeeper's protocol.
const (
	opCreate          = 1
	opDelete          = 2
	opExists          = 3
	opGetData         = 4
	opSetData         = 5
	opSync            = 9
	opGetChildren2    = 12
	opCreateContainer = 19
	opCreateTTL       = 21
)

// request is one request to the server, and how the answer to it reads. Requests that set no watch go past the library,
// on its connection: it cannot abandon a call, drops the zxid of the answer, and takes longer.
type request[T any] struct {
	op      int32
	payload func([]byte) []byte
	answer  func(r *jute.Reader, zxid int64) T
}

// send makes a request in a session and returns when it is answered, or ctx ends, or the session does. A request cannot
// be taken back: if ctx ends first, late gets the result when there is one.
func send[T any](ctx context.Context, s *Session, q request[T], late func(T, error)) (T, error) {
	var none T
	if ctx.Err() != nil {
		return none, fmt.Errorf("%w: %w", errNotSent, retry.ContextError(ctx))
	}
	call, err := s.link.Send(q.op, q.payload)
	switch {
	case errors.Is(err, transport.ErrTooLong):
		return none, zk.ErrShortBuffer
	case err != nil:
		return none, s.explain(zk.ErrNoServer)
	}
	select {
	case <-call.Done():
		return q.result(s, call)
	case <-ctx.Done():
	case <-s.ctx.Done():
	}
	select {
	case <-call.Done(): // after all: a known outcome is better than an unknown one
		return q.result(s, call)
	default:
	}
	if ctx.Err() == nil {
		return none, s.explain(zk.ErrConnectionClosed)
	}
	if late != nil {
		s.client.Go(func(context.Context) {
			<-call.Done()
			late(q.result(s, call))
		})
	}
	return none, retry.ContextError(ctx)
}

// result reads the answer of a call that is done.
func (q request[T]) result(s *Session, call *transport.Call) (T, error) {
	var none T
	code, zxid, body, err := call.Answer()
	switch {
	case errors.Is(err, transport.ErrNotSent):
		return none, s.explain(zk.ErrNoServer)
	case err != nil:
		return none, s.explain(zk.ErrConnectionClosed)
	case code != 0:
		return none, errorOf(code)
	}
	r := jute.NewReader(body)
	v := q.answer(r, zxid)
	if r.Bad() {
		return none, errMalformedAnswer
	}
	return v, nil
}

var errMalformedAnswer = errors.New("malformed answer of the server")

// explain says why a request was not answered, if the end of the session or of the client is the reason.
func (s *Session) explain(err error) error {
	switch {
	case !IsConnectionError(err):
		return err
	case s.client.ctx.Err() != nil:
		return ErrClosed
	case s.ctx.Err() != nil:
		return fmt.Errorf("%w: %w", ErrSessionLost, err)
	default:
		return err
	}
}

type dataAndStat struct {
	data []byte
	stat *zk.Stat
}

func getData(ctx context.Context, s *Session, path string) (dataAndStat, error) {
	return send(ctx, s, request[dataAndStat]{opGetData, unwatched(path), func(r *jute.Reader, _ int64) dataAndStat {
		return dataAndStat{r.Buffer(), readStat(r)}
	}}, nil)
}

// exists returns nil for a node that does not exist.
func exists(ctx context.Context, s *Session, path string) (*zk.Stat, error) {
	stat, err := send(ctx, s, request[*zk.Stat]{opExists, unwatched(path), answerStat}, nil)
	if errors.Is(err, zk.ErrNoNode) {
		return nil, nil
	}
	return stat, err
}

type childrenAndStat struct {
	names []string
	stat  *zk.Stat
}

func children(ctx context.Context, s *Session, path string) (childrenAndStat, error) {
	return send(ctx, s, request[childrenAndStat]{opGetChildren2, unwatched(path), func(r *jute.Reader, _ int64) childrenAndStat {
		const shortestName = 4 // its length
		names := make([]string, r.Count(shortestName))
		for i := range names {
			names[i] = r.String()
		}
		return childrenAndStat{names, readStat(r)}
	}}, nil)
}

func syncPath(ctx context.Context, s *Session, path string) (string, error) {
	return send(ctx, s, request[string]{opSync, func(b []byte) []byte {
		return jute.AppendString(b, path)
	}, answerPath}, nil)
}

// afterSync reads as things are after all writes of this session's earlier connections. Without the sync, a server that
// lags behind could hide one.
func afterSync[T any](ctx context.Context, s *Session, path string, read reader[T]) (T, error) {
	if _, err := syncPath(ctx, s, path); err != nil {
		var none T
		return none, err
	}
	return read(ctx, s, path)
}

func setData(ctx context.Context, s *Session, path string, data []byte, version int32) (*zk.Stat, error) {
	return send(ctx, s, request[*zk.Stat]{opSetData, func(b []byte) []byte {
		return jute.AppendInt32(jute.AppendBuffer(jute.AppendString(b, path), data), version)
	}, answerStat}, nil)
}

func deleteNode(ctx context.Context, s *Session, path string, version int32) error {
	_, err := send(ctx, s, request[struct{}]{opDelete, func(b []byte) []byte {
		return jute.AppendInt32(jute.AppendString(b, path), version)
	}, func(*jute.Reader, int64) struct{} { return struct{}{} }}, nil)
	return err
}

// createRequest asks for a node. The zxid of a write's answer is that write's own transaction, and so the czxid of the
// node.
func createRequest(s *Session, path string, data []byte, mode Mode, ttl time.Duration, acl []zk.ACL) request[Created] {
	return request[Created]{mode.op(), func(b []byte) []byte {
		b = jute.AppendBuffer(jute.AppendString(b, path), data)
		b = jute.AppendInt32(b, int32(len(acl)))
		for _, a := range acl {
			b = jute.AppendString(jute.AppendString(jute.AppendInt32(b, a.Perms), a.Scheme), a.ID)
		}
		b = jute.AppendInt32(b, int32(mode))
		if mode.ttl() {
			b = jute.AppendInt64(b, ttl.Milliseconds())
		}
		return b
	}, func(r *jute.Reader, zxid int64) Created {
		return Created{Path: r.String(), Czxid: zxid, Session: s}
	}}
}

func (m Mode) op() int32 {
	switch {
	case m == Container:
		return opCreateContainer
	case m.ttl():
		return opCreateTTL
	default:
		return opCreate
	}
}

// unwatched is the payload of a read that sets no watch.
func unwatched(path string) func([]byte) []byte {
	return func(b []byte) []byte { return append(jute.AppendString(b, path), 0) }
}

func answerStat(r *jute.Reader, _ int64) *zk.Stat { return readStat(r) }
func answerPath(r *jute.Reader, _ int64) string   { return r.String() }

func readStat(r *jute.Reader) *zk.Stat {
	return &zk.Stat{
		Czxid: r.Int64(), Mzxid: r.Int64(), Ctime: r.Int64(), Mtime: r.Int64(),
		Version: r.Int32(), Cversion: r.Int32(), Aversion: r.Int32(), EphemeralOwner: r.Int64(),
		DataLength: r.Int32(), NumChildren: r.Int32(), Pzxid: r.Int64(),
	}
}
