package framework

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/internal/reason"
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
// that is longer than WithMaxRequestSize allows is ErrRequestTooLarge.
//
// Servers know the request since 3.6. An older one ends the connection, which
// ends all leases of a client with the standard policy. So MultiRead sends the
// request only on a connection whose server has shown that it knows it: by a
// persistent watch that it has set, by the zxid of an event, or by its answer to
// a probe, which is one more request. Only servers since 3.9 pass the probe, and
// older ones write two lines about it to their log. Without a proof, MultiRead
// returns an error for which IsRefusal holds, and the nodes are best read one by
// one.
//
// A multiRead with which a connection ends is not repeated: a proxy may hang up on
// long answers, and the nodes can be read with shorter ones.
//
// The error is an *OpError. It is about no node in particular, but for a path
// that is not valid. Without paths, it matches zk.ErrBadArguments, as a
// *ConfigError.
func (e Extension) MultiRead(ctx context.Context, paths ...string) (nodes []NodeRead, zxid int64, err error) {
	answer, err := e.readAll(ctx, "multiRead", paths, proto.MultiRead)
	if err != nil {
		return nil, 0, err
	}
	nodes = make([]NodeRead, len(paths))
	for i, r := range answer.Reads {
		if r.Code != proto.CodeOK {
			nodes[i].Err = errorOf(r.Code)
			continue
		}
		// A node that is kept must not keep the whole answer.
		nodes[i] = NodeRead{Data: bytes.Clone(r.Data), Stat: (*zk.Stat)(r.Stat)}
	}
	return nodes, answer.Zxid, nil
}

// readAll makes a multiRead, whose answer has as many parts as there are paths.
func (e Extension) readAll(
	ctx context.Context, op string, paths []string, of func(full ...string) proto.Request[proto.MultiReadAnswer],
) (answer proto.MultiReadAnswer, err error) {
	if len(paths) == 0 {
		return answer, &OpError{op, "", &ConfigError{Name: "paths", Value: "none", Reason: "must not be empty"}}
	}
	full := make([]string, len(paths))
	for i, path := range paths {
		if err := validatePath(path); err != nil {
			return answer, &OpError{op, path, err}
		}
		full[i] = e.full(path)
	}
	if s, _, _ := e.sessionNow(); s != nil && s.link.HasNoProof() {
		return answer, &OpError{op, paths[0], errNoProof} // hooks do not hear of it: it is no operation
	}
	err = e.do(ctx, op, paths[0], nil, func(ctx context.Context, s *Session) (err error) {
		answer, err = s.multiRead(ctx, of(full...))
		return err
	})
	return answer, err
}

// Reasons why a multiRead is not sent, or not again.
var (
	errNoProof     = fmt.Errorf("%w: nothing shows that the server is one of ZooKeeper 3.6 or later", ErrUnimplemented)
	errNotRepeated = errors.New("the connection has ended with the request, which is not repeated")
)

// multiRead makes one attempt.
func (s *Session) multiRead(ctx context.Context, q proto.Request[proto.MultiReadAnswer]) (a proto.MultiReadAnswer, err error) {
	p, err := start(ctx, s, q, nil)
	if reason.Is(err, errNoProof) {
		if err = s.probeMultiRead(ctx); err == nil {
			p, err = start(ctx, s, q, nil)
		}
	}
	if err != nil {
		return a, err
	}
	if a, err = p.await(ctx, nil); retryable(err) && ambiguous(err) {
		err = fmt.Errorf("%w: %w", errNotRepeated, err)
	}
	return a, err
}

// probeMultiRead returns when the server has answered whether it is a new one.
func (s *Session) probeMultiRead(ctx context.Context) error {
	probe := s.link.ProbeMultiRead()
	if probe == nil {
		return s.sessionError(zk.ErrNoServer)
	}
	select {
	case <-probe.Done():
		code, _, _, err := probe.Answer()
		switch {
		case err != nil: // nobody has asked the server of the next connection
			return s.sessionError(zk.ErrNoServer)
		case transport.IsFailure(code):
			return errorOf(code)
		}
		return nil
	case <-ctx.Done():
		return notSent(ctx)
	case <-s.ctx.Done():
		return s.sessionError(zk.ErrNoServer)
	}
}
