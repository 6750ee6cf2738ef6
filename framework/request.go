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
	opAuth            = 100
)

// request is one request to the server, and how the answer to it reads. Requests go past the library, on its connection:
// it cannot abandon a call, drops the zxid of the answer, and takes longer.
type request[T any] struct {
	op      int32
	payload func([]byte) []byte
	answer  func(r *jute.Reader, zxid int64) T
}

// send makes a request in a session and returns when it is answered, or ctx ends, or the session does. A request cannot
// be taken back: if ctx ends first, late gets the result when there is one.
func send[T any](ctx context.Context, s *Session, q request[T], late func(T, error)) (T, error) {
	call, err := q.hand(ctx, s, nil)
	if err != nil {
		var none T
		return none, err
	}
	return q.await(ctx, s, call, late)
}

// hand gives the request to the connection. One that has too much to do already makes the caller wait, as long as ctx
// allows. Then is that of transport.Link.Send.
func (q request[T]) hand(ctx context.Context, s *Session, then func(code int32, err error)) (*transport.Call, error) {
	for {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%w: %w", errNotSent, retry.ContextError(ctx))
		}
		call, room, err := s.link.Send(q.op, q.payload, then)
		switch {
		case errors.Is(err, transport.ErrTooLong):
			return nil, zk.ErrShortBuffer
		case err != nil:
			return nil, s.explain(zk.ErrNoServer)
		case call != nil:
			return call, nil
		}
		select {
		case <-room:
		case <-ctx.Done():
		}
	}
}

// await returns when the call is answered, or ctx ends, or the session does.
func (q request[T]) await(ctx context.Context, s *Session, call *transport.Call, late func(T, error)) (T, error) {
	var none T
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
	return send(ctx, s, getDataRequest(path, false), nil)
}

func getDataRequest(path string, watch bool) request[dataAndStat] {
	return request[dataAndStat]{opGetData, reading(path, watch), func(r *jute.Reader, _ int64) dataAndStat {
		return dataAndStat{r.Buffer(), readStat(r)}
	}}
}

// exists returns nil for a node that does not exist.
func exists(ctx context.Context, s *Session, path string) (*zk.Stat, error) {
	q := existsRequest(path, false)
	stat, err := send(ctx, s, q, nil)
	return stat, q.tolerate(err)
}

func existsRequest(path string, watch bool) request[*zk.Stat] {
	return request[*zk.Stat]{opExists, reading(path, watch), answerStat}
}

// tolerate takes it as an answer to exists that the node does not.
func (q request[T]) tolerate(err error) error {
	if q.op == opExists && errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	return err
}

type childrenAndStat struct {
	names []string
	stat  *zk.Stat
}

func children(ctx context.Context, s *Session, path string) (childrenAndStat, error) {
	return send(ctx, s, childrenRequest(path, false), nil)
}

func childrenRequest(path string, watch bool) request[childrenAndStat] {
	return request[childrenAndStat]{opGetChildren2, reading(path, watch), func(r *jute.Reader, _ int64) childrenAndStat {
		const shortestName = 4 // its length
		names := make([]string, r.Count(shortestName))
		for i := range names {
			names[i] = r.String()
		}
		return childrenAndStat{names, readStat(r)}
	}}
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
	}, noAnswer}, nil)
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

// reading is the payload of a read.
func reading(path string, watch bool) func([]byte) []byte {
	return func(b []byte) []byte { return jute.AppendBool(jute.AppendString(b, path), watch) }
}

func answerStat(r *jute.Reader, _ int64) *zk.Stat { return readStat(r) }
func noAnswer(*jute.Reader, int64) struct{}       { return struct{}{} }
func answerPath(r *jute.Reader, _ int64) string   { return r.String() }

func readStat(r *jute.Reader) *zk.Stat {
	return &zk.Stat{
		Czxid: r.Int64(), Mzxid: r.Int64(), Ctime: r.Int64(), Mtime: r.Int64(),
		Version: r.Int32(), Cversion: r.Int32(), Aversion: r.Int32(), EphemeralOwner: r.Int64(),
		DataLength: r.Int32(), NumChildren: r.Int32(), Pzxid: r.Int64(),
	}
}
