package framework

import (
	"context"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/once"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/retry"
)

// do runs an operation. Every operation calls do, which checks the path and calls the
// hooks. The write is nil for an operation that changes nothing.
func (c *Client) do(ctx context.Context, op, path string, w writing, try attempt) error {
	if err := validatePath(path); err != nil {
		return &OpError{op, path, err}
	}
	if len(hookStartOperation.Of(c))+len(hookEndOperation.Of(c)) == 0 {
		return c.run(ctx, op, path, w, try)
	}
	return c.runWithHooks(ctx, op, path, w, try)
}

// read runs an operation of one request that changes nothing, so it can be repeated
// without harm.
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
	return r.Data, r.Stat, err
}

// Exists returns whether there is a node, and its Stat if there is.
func (c *Client) Exists(ctx context.Context, path string) (bool, *zk.Stat, error) {
	stat, err := read(ctx, c, "exists", path, proto.Exists(c.full(path), false))
	return stat != nil, stat, err
}

// Children returns the names of a node's children, in no particular order, and
// the node's Stat. A missing node is zk.ErrNoNode.
func (c *Client) Children(ctx context.Context, path string) ([]string, *zk.Stat, error) {
	r, err := read(ctx, c, "children", path, proto.Children(c.full(path), false))
	return r.Names, r.Stat, err
}

func (c insiderClient) MultiRead(
	ctx context.Context, paths ...string,
) (nodes []insider.NodeRead, zxid int64, err error) {
	const op = "multiRead"
	if len(paths) == 0 {
		return nil, 0, &OpError{op, "", &ConfigError{Name: "paths", Value: "none", Reason: "must not be empty"}}
	}
	full := make([]string, len(paths))
	for i, path := range paths {
		if err := validatePath(path); err != nil {
			return nil, 0, &OpError{op, path, err}
		}
		full[i] = c.full(path)
	}
	answer, err := read(ctx, c.Client, op, paths[0], proto.MultiRead(full...))
	if err != nil {
		return nil, 0, err
	}
	nodes = make([]insider.NodeRead, len(paths))
	for i, r := range answer.Reads {
		if r.Code != proto.CodeOK {
			nodes[i].Err = errorOf(r.Code)
			continue
		}
		nodes[i] = insider.NodeRead{Data: r.Data, Stat: r.Stat}
	}
	return nodes, answer.Zxid, nil
}

// attempt is one try of an operation, in the session that is connected at the time.
type attempt func(ctx context.Context, s *Session) error

// writing is a write as the retry loop sees it.
type writing interface {
	// inDoubt returns the session of a request whose outcome is unknown, or nil.
	inDoubt() *Session

	// mayBeApplied reports, after the last attempt has failed with an error, whether
	// the operation may still have changed something.
	mayBeApplied(err error) bool
}

// run runs an operation in the client's retry loop.
func (c *Client) run(ctx context.Context, op, path string, w writing, try attempt) error {
	var last lastError
	var begunIn *Session // the session in which the first attempt was already sent, or nil
	if w != nil {
		begunIn = w.inDoubt()
	}
	request := countedRequest{op: op, path: c.full(path)}
	end := c.ctx
	if connection := c.connectionOf(ctx); connection != nil {
		end = connection
	}
	err := retry.Do(ctx, c.policy(ctx, end), retryable, func(ctx context.Context) error {
		s, err := begunIn, error(nil)
		begunIn = nil
		if s == nil || c.isCutOff(ctx) || s.checkPin(ctx) != nil {
			if s, err = c.connectedSession(ctx); err == nil {
				err = s.hangUps.await(ctx, end, s, request)
			}
		}
		if err == nil {
			err = s.hangUps.attempted(s, request, try(ctx, s))
		}
		if retryable(err) {
			last.note(ctx, op, path, err)
		}
		return err
	})
	err = last.named(ctx, err)
	switch {
	case err == nil:
		return nil
	case c.ctx.Err() != nil && IsConnectionError(err): // closed during a pause
		err = fmt.Errorf("%w: %w", ErrClosed, err)
	case c.isCutOff(ctx) && IsConnectionError(err):
		err = fmt.Errorf("%w: %w", context.Cause(end), err)
	}
	if w != nil && w.mayBeApplied(err) && !reason.Is(err, ErrOutcomeUnknown) {
		err = unknownOutcome(err)
	}
	return &OpError{op, path, err}
}

// policy returns the retry policy of an operation under ctx. Its pauses end with
// end.
func (c *Client) policy(ctx, end context.Context) retry.Policy {
	switch {
	case once.IsSingle(ctx):
		return retry.None()
	case end == c.ctx:
		return c.retry
	default:
		return stoppable{c.cfg.retry, end.Done()}
	}
}

// stoppable is a policy whose pauses end when stop is closed; retry.Do recognises the
// method.
type stoppable struct {
	retry.Policy
	stop <-chan struct{}
}

func (s stoppable) Stop() <-chan struct{} { return s.stop }

// connectedSession returns the present session, or waits for one as long as the
// connection timeout allows. It returns no session to a caller that is cut off (see
// isCutOff), even if there is another connection by now.
func (c *Client) connectedSession(ctx context.Context) (*Session, error) {
	if ctx.Err() == nil {
		s, _, _ := c.sessionNow()
		switch cutOff := c.isCutOff(ctx); {
		case cutOff && s != nil:
			return nil, errReconnected
		case cutOff:
			return nil, c.withConnectReasons(ErrNotConnected)
		case s != nil:
			return s, s.checkPin(ctx)
		}
	}
	timeout := time.NewTimer(c.cfg.connectionTimeout)
	defer timeout.Stop()
	return c.connected(ctx, timeout.C)
}

// connected waits for a connected session until ctx ends, the client is closed,
// or timeout fires.
func (c *Client) connected(ctx context.Context, timeout <-chan time.Time) (*Session, error) {
	for {
		if ctx.Err() != nil {
			return nil, c.notSent(ctx)
		}
		if c.ctx.Err() != nil {
			return nil, ErrClosed
		}
		s, changed, refused := c.sessionNow()
		if s != nil {
			return s, s.checkPin(ctx)
		}
		select {
		case <-refused:
			return nil, c.refused()
		case <-changed:
		case <-ctx.Done():
		case <-c.ctx.Done():
		case <-timeout:
			return nil, c.withConnectReasons(ErrNotConnected)
		}
	}
}

// sessionNow returns the session if it is connected. Otherwise it returns nil, a
// channel that is closed at the next transition, and a channel that is closed while
// servers refuse the client's credentials.
func (c *Client) sessionNow() (s *Session, changed, refused <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last.Value.State.IsConnected() && !c.closed {
		return c.session, nil, nil
	}
	return nil, c.last.Done(), c.refusal.signal
}

// write is a call that changes something on the server, through all its attempts. Every
// writing operation is a write, with:
//
//   - send, the request that makes the change;
//   - onLostReply, and resolve if the outcome can be found out;
//   - attempt, if one attempt takes more than that request.
//
// The functions are method expressions of the type C, such as *creation. Unlike
// closures, they need no memory.
//
// A new operation needs no loop: the client's retry loop calls try.
type write[C, T any] struct {
	of C // the call that the write belongs to

	// send makes the request that changes something, once.
	send func(of C, ctx context.Context, s *Session) (T, error)

	// onLostReply decides what follows a request whose outcome is unknown.
	onLostReply lostReply

	// resolve finds out whether such a request was applied. If it was, resolve returns
	// the result. Otherwise the request is repeated. An error ends the attempt, and
	// leaves the outcome unknown.
	resolve func(of C, ctx context.Context, s *Session) (v T, applied bool, err error)

	// attempt makes one attempt of several requests, which may call request. If attempt
	// is nil, an attempt is one call of request.
	attempt func(of C, ctx context.Context, s *Session) (T, error)

	// partly reports whether a call that fails with an error may have changed
	// something by other requests than send. It may be nil.
	partly func(err error) bool

	// doubt is the session of a request that may have been applied, or nil.
	doubt *Session
}

// lostReply is the behaviour of a write after the reply to its request was lost.
// ErrOutcomeUnknown has the table of all writes.
type lostReply int

const (
	// giveUp fails with ErrOutcomeUnknown at once, because the outcome cannot be found
	// out.
	giveUp lostReply = iota

	// sendAgain repeats the request, because applying it twice does no harm. If no
	// later attempt succeeds, the call fails with ErrOutcomeUnknown.
	sendAgain

	// lookUp resolves the outcome before anything else, by the unique name of a
	// protected node. If that fails, the call fails with ErrOutcomeUnknown.
	lookUp

	// changesNothing is for a request that turns out to only read. It is repeated, and
	// its outcome does not matter.
	changesNothing
)

// AnyVersion matches every version of a node. Any other number is a version: a
// node's versions are negative after 2^31 writes.
const AnyVersion int32 = -1

// ofVersion returns the behaviour of a versioned write after a lost reply. The write is
// repeated only for AnyVersion. With a version, no read shows the outcome: another
// client may have written the same data, and a re-created node may have the old version
// again.
func ofVersion(version int32) lostReply {
	if version == AnyVersion {
		return sendAgain
	}
	return giveUp
}

// do runs the operation in the client's retry loop. If the outcome of an earlier
// request is already unknown, the first attempt concerns that request, in its session.
func (w *write[C, T]) do(ctx context.Context, c *Client, op, path string) (T, error) {
	var v T
	err := c.do(ctx, op, path, w, func(ctx context.Context, s *Session) (err error) {
		v, err = w.try(ctx, s)
		return err
	})
	return v, err
}

// try makes one attempt. If the outcome of an earlier attempt is unknown and can be
// found out, try does that first.
func (w *write[C, T]) try(ctx context.Context, s *Session) (T, error) {
	if w.doubt != nil && w.onLostReply == lookUp {
		v, applied, err := w.resolve(w.of, ctx, s)
		if applied || err != nil {
			return v, err
		}
		w.doubt = nil
	}
	if w.attempt != nil {
		return w.attempt(w.of, ctx, s)
	}
	return w.request(ctx, s)
}

// request makes the request that changes something, and records whether its outcome is
// unknown.
func (w *write[C, T]) request(ctx context.Context, s *Session) (T, error) {
	v, err := w.send(w.of, ctx, s)
	return v, w.noteOutcome(s, err)
}

// noteOutcome records whether the outcome of a request with this error is unknown. It
// returns the error, which matches ErrOutcomeUnknown if the write gives up.
func (w *write[C, T]) noteOutcome(s *Session, err error) error {
	var failed *TxnError // nothing was applied, whatever the error of the operation
	switch {
	case !ambiguous(err), reason.Is(err, ErrOutcomeUnknown), reason.As(err, &failed):
		return err
	case w.onLostReply == changesNothing:
		return err
	case w.onLostReply == giveUp:
		return unknownOutcome(err)
	}
	w.doubt = s
	return err
}

func (w *write[C, T]) mayBeApplied(err error) bool {
	return w.doubt != nil || w.partly != nil && w.partly(err)
}

func (w *write[C, T]) inDoubt() *Session { return w.doubt }
