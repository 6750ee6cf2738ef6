package framework

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/reason"
)

func (c insiderClient) MultiRead(ctx context.Context, paths ...string) (nodes []insider.NodeRead, zxid int64, err error) {
	answer, err := c.readAll(ctx, "multiRead", paths, proto.MultiRead)
	if err != nil {
		return nil, 0, err
	}
	nodes = make([]insider.NodeRead, len(paths))
	for i, r := range answer.Reads {
		if r.Code != proto.CodeOK {
			nodes[i].Err = errorOf(r.Code)
			continue
		}
		// A node that is kept must not keep the whole answer.
		nodes[i] = insider.NodeRead{Data: bytes.Clone(r.Data), Stat: (*zk.Stat)(r.Stat)}
	}
	return nodes, answer.Zxid, nil
}

// readAll makes a multiRead, whose answer has as many parts as there are paths.
func (c insiderClient) readAll(
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
		full[i] = c.full(path)
	}
	if s, _, _ := c.sessionNow(); s != nil && s.link.HasNoProof() {
		return answer, &OpError{op, paths[0], errNoProof} // hooks do not hear of it: it is no operation
	}
	err = c.do(ctx, op, paths[0], nil, func(ctx context.Context, s *Session) (err error) {
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
