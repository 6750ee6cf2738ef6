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
	opGetACL          = 6
	opSetACL          = 7
	opSync            = 9
	opGetChildren2    = 12
	opCheck           = 13
	opMulti           = 14
	opCreate2         = 15
	opReconfig        = 16
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
	call, err := q.start(ctx, s, nil)
	if err != nil {
		var none T
		return none, err
	}
	return q.await(ctx, s, call, late)
}

// start gives the request to the connection, and does not wait for its answer.
// A connection that has too much to do already makes the caller wait in line,
// as long as ctx and the session last. Then is that of transport.Link.Send.
func (q request[T]) start(ctx context.Context, s *Session, then func(code int32, err error)) (*transport.Call, error) {
	if ctx.Err() != nil {
		return nil, notSent(ctx)
	}
	call, place, err := s.link.Send(q.op, q.payload, then)
	if place != nil {
		call, _, err = s.inLine(ctx, place)
	}
	return call, s.whyNotSent(err)
}

// startBoth starts two requests at once; see transport.Link.SendBoth.
func startBoth[A, B any](ctx context.Context, s *Session, a request[A], b request[B]) (first, second *transport.Call, err error) {
	if ctx.Err() != nil {
		return nil, nil, notSent(ctx)
	}
	first, second, place, err := s.link.SendBoth(
		transport.Request{Op: a.op, Payload: a.payload}, transport.Request{Op: b.op, Payload: b.payload})
	if place != nil {
		first, second, err = s.inLine(ctx, place)
	}
	return first, second, s.whyNotSent(err)
}

// inLine returns when it is the turn of what waits for room, or ctx or the
// session has ended before.
func (s *Session) inLine(ctx context.Context, place *transport.Waiter) (first, second *transport.Call, err error) {
	select {
	case <-place.Done():
	case <-ctx.Done():
		if place.Cancel() {
			return nil, nil, notSent(ctx)
		}
	case <-s.ctx.Done():
		if place.Cancel() {
			return nil, nil, transport.ErrNotSent
		}
	}
	return place.Calls()
}

func notSent(ctx context.Context) error {
	return fmt.Errorf("%w: %w", errNotSent, retry.ContextError(ctx))
}

// whyNotSent is the error of a request that the connection has not taken.
func (s *Session) whyNotSent(err error) error {
	switch {
	case err == nil, errors.Is(err, errNotSent):
		return err
	case errors.Is(err, transport.ErrTooLong):
		return ErrRequestTooLarge
	default:
		return s.explain(zk.ErrNoServer)
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

// pipeline makes many requests ahead of their answers, in order and a bounded number at a time. Each gets the answers in
// the same order. After the first error, which is returned, no request is sent, and those under way are awaited: when the
// pipeline ends nothing more happens, unless ctx or the session ends it.
func pipeline[A, T any](ctx context.Context, s *Session, args []A, q func(A) request[T], each func(A, T, error) error) (failed error) {
	var window [pipelineDepth]*transport.Call
	for i := range len(args) + pipelineDepth {
		slot := &window[i%pipelineDepth]
		if call := *slot; call != nil {
			arg := args[i-pipelineDepth]
			v, err := q(arg).await(ctx, s, call, nil)
			if failed == nil {
				failed = each(arg, v, err)
			}
			*slot = nil
		}
		if failed == nil && i < len(args) {
			*slot, failed = q(args[i]).start(ctx, s, nil)
		}
	}
	return failed
}

// pipelineDepth hides the time of a round trip and is little for a server, which takes 1000 requests in all before it
// stops reading.
const pipelineDepth = 64

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

// explain says why a request was not answered, if the end of the session or of the client is the reason.
func (s *Session) explain(err error) error {
	switch {
	case !IsConnectionError(err):
		return err
	case s.client.ctx.Err() != nil && neverSent(err):
		return ErrClosed
	case s.client.ctx.Err() != nil:
		return errClosedMeanwhile
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
		return appendSetData(b, path, data, version)
	}, answerStat}, nil)
}

func deleteRequest(path string, version int32) request[struct{}] {
	return request[struct{}]{opDelete, func(b []byte) []byte { return appendVersioned(b, path, version) }, answerNothing}
}

func deleteNode(ctx context.Context, s *Session, path string, version int32) error {
	_, err := send(ctx, s, deleteRequest(path, version), nil)
	if err == nil || errors.Is(err, zk.ErrNoNode) {
		s.unmade(path)
	}
	return err
}

// newNode is what a server needs to know to make a node.
type newNode struct {
	path string
	data []byte
	acl  []zk.ACL
	mode Mode
	ttl  time.Duration
}

// createRequest asks for a node. The zxid of a write's answer is that write's own transaction, and so the czxid of the
// node.
func createRequest(s *Session, n newNode) request[Created] {
	return request[Created]{n.mode.op(), n.append, func(r *jute.Reader, zxid int64) Created {
		created := Created{Path: r.String(), Czxid: zxid, Session: s}
		if n.mode.ephemeral() && !r.Bad() {
			s.made(created.Path)
		}
		return created
	}}
}

func (n newNode) append(b []byte) []byte {
	b = jute.AppendBuffer(jute.AppendString(b, n.path), n.data)
	b = jute.AppendInt32(appendACL(b, n.acl), int32(n.mode))
	if n.mode.ttl() {
		b = jute.AppendInt64(b, n.ttl.Milliseconds())
	}
	return b
}

func appendSetData(b []byte, path string, data []byte, version int32) []byte {
	return jute.AppendInt32(jute.AppendBuffer(jute.AppendString(b, path), data), version)
}

// appendVersioned appends what delete and check are about.
func appendVersioned(b []byte, path string, version int32) []byte {
	return jute.AppendInt32(jute.AppendString(b, path), version)
}

// reading is the payload of a read.
func reading(path string, watch bool) func([]byte) []byte {
	return func(b []byte) []byte { return jute.AppendBool(jute.AppendString(b, path), watch) }
}

func answerStat(r *jute.Reader, _ int64) *zk.Stat { return readStat(r) }
func answerPath(r *jute.Reader, _ int64) string   { return r.String() }
func answerNothing(*jute.Reader, int64) struct{}  { return struct{}{} }

func readStat(r *jute.Reader) *zk.Stat {
	return &zk.Stat{
		Czxid: r.Int64(), Mzxid: r.Int64(), Ctime: r.Int64(), Mtime: r.Int64(),
		Version: r.Int32(), Cversion: r.Int32(), Aversion: r.Int32(), EphemeralOwner: r.Int64(),
		DataLength: r.Int32(), NumChildren: r.Int32(), Pzxid: r.Int64(),
	}
}
