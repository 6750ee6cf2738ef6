package fencezk

import (
	"context"
	"fmt"
	"iter"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/fence"
	"github.com/gocurator/curator/recipes/locks"
)

// Client is a client under a lease. ZooKeeper carries out a write only while the node of
// the lease's holder exists, and no other holder is admitted while that node exists. So
// even a late write of this client never lands after the lock has passed to another
// holder.
//
// The error of a write under a lost lease matches fence.ErrStale, and holds a
// *fence.StaleError without the newest token. If the client knows of the loss, it does
// not send the write, and the error also matches the cause of the lease's context.
// Otherwise ZooKeeper refuses the write, and the error holds a *framework.TxnError. If the
// loss ends the context of the write before ZooKeeper answers, the error also matches the
// error of that context. A lease that was released counts as lost.
//
// Such a write has changed nothing, unless the error also matches
// framework.ErrOutcomeUnknown: the reply to an attempt was lost, which may have been
// applied while the lock was held.
//
// A read is not fenced: Get, GetW, Exists, ExistsW, Children, ChildrenW, GetACL,
// NewWatcher, Watch, Sync and SyncQuorum are the methods of framework.Client. The
// version of a write ensures that the node has not changed since the read.
//
// Client has no SetACL, and no delete of a tree, because ZooKeeper has no transactions
// with these. Ephemeral nodes and containers are treated like other nodes. An ephemeral
// node of the holder's session is deleted when the session ends, together with the
// lock.
type Client struct {
	reader
	client *framework.Client
	lease  *locks.Lease
}

type reader interface {
	Get(ctx context.Context, path string) ([]byte, *zk.Stat, error)
	GetW(ctx context.Context, path string) ([]byte, *zk.Stat, *framework.Watch, error)
	Exists(ctx context.Context, path string) (bool, *zk.Stat, error)
	ExistsW(ctx context.Context, path string) (bool, *zk.Stat, *framework.Watch, error)
	Children(ctx context.Context, path string) ([]string, *zk.Stat, error)
	ChildrenW(ctx context.Context, path string) ([]string, *zk.Stat, *framework.Watch, error)
	GetACL(ctx context.Context, path string) ([]zk.ACL, *zk.Stat, error)
	NewWatcher(ctx context.Context, path string, opts ...framework.WatcherOption) (*framework.Watcher, error)
	Watch(ctx context.Context, path string, opts ...framework.WatcherOption) iter.Seq2[framework.WatchEvent, error]
	Sync(ctx context.Context, path string) error
	SyncQuorum(ctx context.Context) error
}

// New returns c under the lease. The lease's lock must have been created with c or
// another view of the same client. Otherwise each write fails with a
// *framework.ConfigError. New panics with a *framework.ConfigError if an argument is nil.
func New(c *framework.Client, lease *locks.Lease) *Client {
	if c == nil {
		panic(isNil("client"))
	}
	if lease == nil {
		panic(isNil("lease"))
	}
	return &Client{c, c, lease}
}

func isNil(name string) error {
	return &framework.ConfigError{Name: name, Value: "nil", Reason: "must not be nil"}
}

// Create creates a node, with the options and errors of framework.CreateOp.
//
// Create creates missing parents that an option asks for, and missing nodes of the
// view's namespace, before the transaction and without a fence. A holder that loses its
// lock in between may leave empty parents behind.
func (c *Client) Create(
	ctx context.Context, path string, data []byte, opts ...framework.CreateOption,
) (framework.TxnResult, error) {
	return c.write(ctx, framework.CreateOp(path, data, opts...))
}

// Set writes a node's data if the node has the given version, and returns its new Stat.
// framework.AnyVersion always matches.
func (c *Client) Set(ctx context.Context, path string, data []byte, version int32) (*zk.Stat, error) {
	result, err := c.write(ctx, framework.SetOp(path, data, version))
	return result.Stat, err
}

// Delete deletes a node without children if it has the given version.
// framework.AnyVersion always matches.
func (c *Client) Delete(ctx context.Context, path string, version int32) error {
	_, err := c.write(ctx, framework.DeleteOp(path, version))
	return err
}

func (c *Client) write(ctx context.Context, op framework.TxnOp) (framework.TxnResult, error) {
	results, err := c.Transaction(ctx, op)
	if err != nil {
		return framework.TxnResult{}, err
	}
	return results[0], nil
}

// Transaction carries out all operations or none, like framework.Client.Transaction,
// whose comment also describes a lost reply. Without operations, Transaction checks that
// the lock is held. The results belong to ops. A *framework.TxnError also counts the
// checks of the lease, which come first.
func (c *Client) Transaction(ctx context.Context, ops ...framework.TxnOp) ([]framework.TxnResult, error) {
	held, stale := c.lease.Context(), &fence.StaleError{Token: c.lease.FencingToken(), Owner: c.lease.Path()}
	if held.Err() != nil {
		return nil, fmt.Errorf("%w: the lease has ended: %w", stale, reason.Foreign(context.Cause(held)))
	}
	checks := c.lease.Checks()
	results, err := c.client.Transaction(ctx, append(checks, ops...)...)
	var failed *framework.TxnError
	switch {
	case err == nil:
		return results[len(checks):], nil
	case reason.As(err, &failed) && failed.Index < len(checks) && reason.Is(failed.Err, zk.ErrNoNode),
		held.Err() != nil && reason.IsOfContext(ctx, err): // the loss may have ended ctx before ZooKeeper could refuse
		return nil, fmt.Errorf("%w: %w", stale, err)
	}
	return nil, err
}
