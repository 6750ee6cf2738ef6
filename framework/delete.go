package framework

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"
)

// DeleteOption configures a Delete.
type DeleteOption func(*deleteAttempts)

// Guaranteed makes Delete a promise: if the call cannot do it, because ctx has ended, there is no connection, or the server
// is in trouble, the client goes on in the background until the node is gone or the client is closed. The call still
// returns the error. A missing node is success. What the server refuses, for want of rights or because there are
// children, stays refused. If the server fails at it twenty times, the client
// gives up and logs a warning. Use it for nodes of your own with unique names,
// with AnyVersion.
func Guaranteed() DeleteOption {
	return func(d *deleteAttempts) { d.guaranteed = true }
}

// Quietly makes a missing node a success.
func Quietly() DeleteOption {
	return func(d *deleteAttempts) { d.quietly = true }
}

// WithChildren deletes what is below the node first, from the bottom up. Nodes that vanish meanwhile are what is wanted;
// for nodes that appear meanwhile it goes back, several times, and then fails with zk.ErrNotEmpty. A Delete that fails may
// have deleted some of the nodes below, never one beside or above the path.
//
// A tree of some thousand nodes is listed before anything is deleted. A larger
// one is deleted in portions, so that it need not fit in memory.
//
// The version is the node's own. It is compared before anything is deleted, and once more when the node is: if somebody
// writes the node in between, the nodes below are gone all the same. The right to list and to delete children is
// needed on every node that has some.
func WithChildren() DeleteOption {
	return func(d *deleteAttempts) { d.children = true }
}

// Delete deletes a node without children if it has the given version. AnyVersion always matches.
//
// A missing node is zk.ErrNoNode, another version zk.ErrBadVersion, a child zk.ErrNotEmpty. If the connection breaks
// while the reply is awaited, the delete is repeated; a node that is missing then counts as deleted if the version did
// not matter, and is ErrOutcomeUnknown if it did. A repeated delete may hit a node that somebody has created anew
// meanwhile, if it has the version. If ctx ends while the reply is awaited, the error matches ErrOutcomeUnknown. The
// server's own nodes, "/" and "/zookeeper", are zk.ErrBadArguments.
func (c *Client) Delete(ctx context.Context, path string, version int32, opts ...DeleteOption) error {
	d := deleteAttempts{path: c.full(path), version: version}
	if err := apply(&d, opts); err != nil {
		return &OpError{"delete", path, err}
	}
	inDoubt := func(err error) bool { return d.inDoubt || d.begun && !IsRefusal(err) }
	err := errPanicked // unless write returns
	defer func() {
		if d.guaranteed && err != nil && !IsRefusal(err) {
			c.finishInBackground(d)
		}
	}()
	err = c.write(ctx, "delete", path, inDoubt, d.attempt)
	return err
}

// DeleteInBackground is a Guaranteed Delete of AnyVersion that nobody waits for. While there is a connection, what the
// caller asks of the server next comes behind it.
func (c *Client) DeleteInBackground(path string) {
	if validatePath(path) == nil {
		c.deleteInBackground(c.full(path))
	}
}

// deleteAttempts are the attempts at one Delete.
type deleteAttempts struct {
	path       string
	version    int32
	guaranteed bool
	quietly    bool
	children   bool
	inDoubt    bool // an earlier attempt may have deleted the node
	begun      bool // nodes below may have been deleted
}

func (d *deleteAttempts) attempt(ctx context.Context, s *Session) error {
	err := d.delete(ctx, s)
	if errors.Is(err, zk.ErrNoNode) && (d.guaranteed || d.quietly || d.inDoubt && d.version == AnyVersion) {
		return nil
	}
	return err // if d is in doubt, what is there now may be another's, made after our delete
}

func (d *deleteAttempts) delete(ctx context.Context, s *Session) error {
	for round := 1; ; {
		err := deleteNode(ctx, s, d.path, d.version)
		d.inDoubt = d.inDoubt || ambiguous(err)
		if !d.children || !errors.Is(err, zk.ErrNotEmpty) || round > maxDeleteRounds {
			return err
		}
		more, err := d.deleteBelow(ctx, s)
		if err != nil {
			return err
		}
		if !more {
			round++
		}
	}
}

// maxDeleteRounds bounds how often somebody may create nodes in a tree that is
// being deleted. A round that has deleted a part of a large tree does not count.
const maxDeleteRounds = 10

// deleteInBackground deletes a node, however long it takes to find a connection.
func (c *Client) deleteInBackground(path string) {
	c.finishInBackground(deleteAttempts{path: path, version: AnyVersion, guaranteed: true})
}

func (c *Client) finishInBackground(d deleteAttempts) {
	if d.children {
		c.inBackground(d.path, d.attempt)
		return
	}
	job := &cleanup{path: d.path, version: d.version}
	c.begin(job)
	c.cleanUp(job)
}

// begin sends the request of a delete at once, or makes it wait for room. The
// caller's next request comes behind it, so that callers do not find a node that
// they have given up.
func (c *Client) begin(job *cleanup) {
	s, _, _ := c.sessionNow()
	if s == nil {
		return
	}
	q := job.request()
	job.sent, job.place, _ = s.link.Send(q.op, q.payload, nil) // neither if there is no connection
	job.sentIn = s
}
