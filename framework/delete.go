package framework

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
)

// DeleteOption configures a Delete: what to delete ([WithChildren]), and what counts as
// success or continues after a failure ([WithMissingOK], [WithGuarantee]).
type DeleteOption func(*deleteConfig)

type deleteConfig struct {
	guaranteed bool
	quietly    bool
	children   bool
}

// WithGuarantee makes the client continue a failed Delete in the background. If ctx ends,
// there is no connection, or the server fails, Delete returns the error, and the client
// retries until the node is deleted or the client is closed. A missing node is a success.
//
// If the server refuses the delete, for lack of rights or because of children, the
// client does not retry. If the server fails twenty times, the client gives up and logs
// a warning. Use WithGuarantee for your own nodes with unique names, with AnyVersion.
func WithGuarantee() DeleteOption {
	return func(c *deleteConfig) { c.guaranteed = true }
}

// WithMissingOK makes a missing node a success.
func WithMissingOK() DeleteOption {
	return func(c *deleteConfig) { c.quietly = true }
}

// WithChildren first deletes the nodes below the node, from the bottom up. Nodes may
// vanish meanwhile. If nodes appear meanwhile, Delete starts over several times, and
// then fails with zk.ErrNotEmpty. A failed Delete may have deleted some of the nodes
// below, but never a node elsewhere.
//
// The tree may be larger than the memory, because Delete works branch by branch. Only
// nodes with children are listed.
//
// The version is the version of the node itself. It is compared before anything is
// deleted, and again when the node is deleted: if another client writes the node in
// between, the nodes below are still gone. Every node with children must grant the
// rights to list and to delete children.
func WithChildren() DeleteOption {
	return func(c *deleteConfig) { c.children = true }
}

// Delete deletes a node without children if it has the given version.
// AnyVersion always matches. These are errors to match:
//
//   - zk.ErrNoNode for a missing node.
//   - zk.ErrBadVersion for another version.
//   - zk.ErrNotEmpty for a node with children.
//   - zk.ErrBadArguments for the server's own nodes, "/" and "/zookeeper".
//
// If the reply is lost, a delete of AnyVersion or WithGuarantee is repeated, and a
// missing node then counts as deleted. A repeated delete may hit a node that another
// client has re-created meanwhile. For any other delete of a version, the error matches
// ErrOutcomeUnknown. The error also matches ErrOutcomeUnknown if ctx ends while the
// reply is awaited.
func (c *Client) Delete(ctx context.Context, path string, version int32, opts ...DeleteOption) error {
	d := newDeletion(c.full(path), version)
	if err := apply(&d.cfg, opts); err != nil {
		return &OpError{"delete", path, err}
	}
	if d.cfg.guaranteed {
		d.write.onLostReply = sendAgain
	}
	if d.cfg.children {
		d.write.partly = func(err error) bool { return d.begunBelow && !IsRefusal(err) }
	}
	return d.do(ctx, c, path)
}

// deletion is the state of one Delete: its arguments, and the results of its attempts.
type deletion struct {
	path    string
	version int32
	cfg     deleteConfig

	write      write[*deletion, proto.Nothing]
	begun      begunDelete // the request whose answer is awaited
	begunBelow bool        // nodes below may have been deleted
	done       bool        // no work is left, even if the caller gets an error
}

func newDeletion(path string, version int32) *deletion {
	d := &deletion{path: path, version: version}
	d.write = write[*deletion, proto.Nothing]{
		of: d, send: (*deletion).send, onLostReply: ofVersion(version), attempt: (*deletion).attempt,
	}
	return d
}

// do runs the deletion. The path is the caller's name for the node.
func (d *deletion) do(ctx context.Context, c *Client, path string) (err error) {
	defer func() { // also if a hook panics
		if d.cfg.guaranteed && !d.done && !IsRefusal(err) {
			c.finishInBackground(d)
		}
	}()
	_, err = d.write.do(ctx, c, "delete", path)
	return err
}

// send sends the request, or awaits the answer if the request was already sent.
func (d *deletion) send(ctx context.Context, s *Session) (proto.Nothing, error) {
	switch {
	case !d.begun.isNone():
		d.write.doubt = nil // the answer decides
	case ctx.Err() != nil:
		return proto.Nothing{}, notSent(ctx)
	default:
		if err := d.begin(s); err != nil {
			return proto.Nothing{}, err
		}
	}
	err := d.begun.await(ctx)
	if err == nil || reason.Is(err, zk.ErrNoNode) {
		d.begun.session.kept.remove(d.path)
	}
	if !abandoned(ctx, err) { // otherwise a clean-up in the background awaits the answer
		d.begun = begunDelete{}
	}
	return proto.Nothing{}, err
}

func (d *deletion) begin(s *Session) (err error) {
	d.begun, err = beginDelete(s, d.path, d.version)
	return err
}

// attempt deletes the node and, WithChildren, the nodes below. If an earlier attempt
// may have deleted the node, a missing node is success.
func (d *deletion) attempt(ctx context.Context, s *Session) (proto.Nothing, error) {
	err := d.deleteAll(ctx, s)
	missingIsDone := d.cfg.guaranteed || d.cfg.quietly || d.write.doubt != nil
	if reason.Is(err, zk.ErrNoNode) && missingIsDone {
		err = nil
	}
	d.done = err == nil
	return proto.Nothing{}, err
}

// deleteAll deletes the node, after deleting any children first.
func (d *deletion) deleteAll(ctx context.Context, s *Session) error {
	for round := 1; ; round++ {
		_, err := d.write.request(ctx, s)
		if !d.cfg.children || !reason.Is(err, zk.ErrNotEmpty) || round > maxDeleteRounds {
			return err
		}
		if err := d.deleteBelow(ctx, s, []string{d.path}); err != nil {
			return err
		}
	}
}

// maxDeleteRounds bounds how often other clients may create nodes in a tree that is
// being deleted.
const maxDeleteRounds = 10

// deleteBelow deletes all nodes below these parents, except nodes that appear
// meanwhile. Only the children of a few parents are in memory at a time.
func (d *deletion) deleteBelow(ctx context.Context, s *Session, parents []string) error {
	for some := range slices.Chunk(parents, pipelineDepth) {
		children, err := childrenOf(ctx, s, some)
		if err != nil {
			return err
		}
		d.begunBelow = d.begunBelow || len(children) > 0
		if err := d.deleteTrees(ctx, s, children); err != nil {
			return err
		}
	}
	return nil
}

// deleteTrees deletes nodes and everything below them. Most nodes of a tree have no
// children, so deleteTrees tries to delete each node first, and lists only the nodes
// that are not empty.
func (d *deletion) deleteTrees(ctx context.Context, s *Session, paths []string) error {
	notEmpty, err := deleteNodes(ctx, s, paths)
	if err != nil || len(notEmpty) == 0 {
		return err
	}
	if err := d.deleteBelow(ctx, s, notEmpty); err != nil {
		return err
	}
	_, err = deleteNodes(ctx, s, notEmpty)
	return err
}

// deleteNodes deletes nodes, and returns the nodes that have children.
func deleteNodes(ctx context.Context, s *Session, paths []string) (notEmpty []string, err error) {
	remove := func(path string) proto.Request[proto.Nothing] { return proto.Delete(path, AnyVersion) }
	err = pipeline(ctx, s, paths, remove, func(path string, _ proto.Nothing, err error) error {
		switch {
		case err == nil, reason.Is(err, zk.ErrNoNode):
			s.kept.remove(path)
		case reason.Is(err, zk.ErrNotEmpty):
			notEmpty = append(notEmpty, path)
		default:
			return fmt.Errorf("node %s: %w", path, err)
		}
		return nil
	})
	return notEmpty, err
}

// childrenOf returns the paths of the children of nodes.
func childrenOf(ctx context.Context, s *Session, parents []string) (all []string, err error) {
	list := func(path string) proto.Request[proto.ChildrenAnswer] { return proto.Children(path, false) }
	err = pipeline(ctx, s, parents, list, func(parent string, found proto.ChildrenAnswer, err error) error {
		for _, name := range found.Names {
			all = append(all, znode.Join(parent, name))
		}
		if err != nil && !reason.Is(err, zk.ErrNoNode) {
			return fmt.Errorf("node %s: %w", parent, err)
		}
		return nil
	})
	return all, err
}

func (c *Client) finishInBackground(d *deletion) {
	job := &cleanup{path: d.path, version: d.version}
	switch {
	case d.cfg.children:
		job.tree = d
	case d.begun.isNone():
		c.begin(job)
	default:
		job.begun = d.begun
	}
	c.cleanUp(job)
}

// BeginDelete implements insider.Client.
func (c insiderClient) BeginDelete(ctx context.Context, path string) (wait func() error) {
	d := newDeletion(c.full(path), AnyVersion)
	d.cfg.guaranteed = true
	if s, _, _ := c.sessionNow(); s != nil && validatePath(path) == nil && d.begin(s) == nil {
		d.write.doubt = s
	}
	return func() error { return d.do(ctx, c.Client, path) }
}
