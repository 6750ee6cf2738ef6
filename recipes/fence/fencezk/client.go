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
// A write whose holder's node is gone changes nothing. Its error matches fence.ErrStale,
// and holds a *fence.StaleError without the newest token, and a *framework.TxnError. If
// the error also matches framework.ErrOutcomeUnknown, the reply to an earlier attempt was
// lost, and that attempt may have been applied while the lock was held. The client does
// not send a write under a lease that has ended, and the error has the reason.
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
// *framework.ConfigError.
func New(c *framework.Client, lease *locks.Lease) *Client { return &Client{c, c, lease} }

// Create creates a node, with the options and errors of framework.CreateOp.
//
// Create creates missing parents that an option asks for, and missing nodes of the
// view's namespace, before the transaction and without a fence. A holder that loses its
// lock in between may leave empty parents behind.
func (c *Client) Create(ctx context.Context, path string, data []byte, opts ...framework.CreateOption) (framework.TxnResult, error) {
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
	if held := c.lease.Context(); held.Err() != nil {
		return nil, fmt.Errorf("fencezk: the lease of %s has ended: %w", c.lease.Path(), reason.Foreign(context.Cause(held)))
	}
	checks := c.lease.Checks()
	results, err := c.client.Transaction(ctx, append(checks, ops...)...)
	var failed *framework.TxnError
	switch {
	case reason.As(err, &failed) && failed.Index < len(checks) && reason.Is(failed.Err, zk.ErrNoNode):
		return nil, fmt.Errorf("%w: %w", &fence.StaleError{Token: c.lease.FencingToken(), Owner: c.lease.Path()}, err)
	case err != nil:
		return nil, err
	}
	return results[len(checks):], nil
}
