package framework

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/jute"
)

// aclProvider returns the access control list of a node to create, by its full path.
type aclProvider func(path string) []zk.ACL

// WithACLProvider sets who may do what to the nodes that the client creates: provider is called for each of them, and
// for each parent and each node of the chroot that is created for it, unless the call says WithACL or WithParentACL. The
// path is the server's: with the chroot and the prefix of a Protected node, without the number of a sequential one. A
// list that is empty fails the operation with zk.ErrInvalidACL, and opens nothing. The provider may be called by several
// goroutines at once, and more than once for a node that is asked for again.
//
// The default lets everyone do everything. Whoever reaches a server may then delete and revoke everybody's locks, write to
// every node, and create what is in the way of a lock. To shut others out, give the client credentials, and its nodes to
// those who have them:
//
//	framework.WithAuth("digest", []byte("shop:"+password)),
//	framework.WithACLProvider(func(string) []zk.ACL { return zk.AuthACL(zk.PermAll) }),
//
// The lists are of package github.com/go-zookeeper/zk. All who contend for a lock must be allowed to create and delete
// below its path, and to read each other's nodes. An existing path keeps the list that it was created with.
func WithACLProvider(provider func(path string) []zk.ACL) Option {
	return func(c *config) {
		c.aclProvider = provider
		c.require("ACL provider", provider != nil)
	}
}

// aclFor returns the access control list of a new node, by its full path: the one that the call gave, if it gave one.
func (c *Client) aclFor(path string, given []zk.ACL) ([]zk.ACL, error) {
	switch {
	case given != nil:
		return given, nil
	case c.cfg.aclProvider == nil:
		return zk.WorldACL(zk.PermAll), nil
	}
	acl := c.cfg.aclProvider(path)
	if len(acl) == 0 {
		return nil, fmt.Errorf("%w: the provider has none for %s", zk.ErrInvalidACL, path)
	}
	return acl, nil
}

// GetACL returns a node's access control list and Stat. A missing node is zk.ErrNoNode. The server hides passwords of
// the digest scheme from whoever may not change the list.
func (c *Client) GetACL(ctx context.Context, path string) ([]zk.ACL, *zk.Stat, error) {
	r, err := read(ctx, c, "getACL", path, getACL)
	return r.acl, r.stat, err
}

// SetACL replaces a node's access control list if the list has the given version, which is the Aversion of the node's
// Stat, and returns the new Stat. AnyVersion always matches.
//
// A missing node is zk.ErrNoNode, another version zk.ErrBadVersion, a list that is empty or that the server does not
// understand zk.ErrInvalidACL. If the connection breaks while the reply is awaited, a write with AnyVersion is repeated,
// and one with a version is looked up: it counts as done if the list has the next version and is this one, and is
// repeated if it still has the old version. Otherwise, and if ctx ends while the reply is awaited, the error matches
// ErrOutcomeUnknown. That includes lists that cannot be recognised: because the server stores another one than it was
// given, as it does for the scheme auth and for entries that are given twice, or because they do not let us read them.
func (c *Client) SetACL(ctx context.Context, path string, acl []zk.ACL, version int32) (*zk.Stat, error) {
	if len(acl) == 0 {
		return nil, &OpError{"setACL", path, fmt.Errorf("%w: empty", zk.ErrInvalidACL)}
	}
	w := setACLAttempts{path: c.full(path), acl: slices.Clone(acl), version: version}
	var stat *zk.Stat
	err := c.write(ctx, "setACL", path, func(error) bool { return w.inDoubt }, func(ctx context.Context, s *Session) (err error) {
		stat, err = w.attempt(ctx, s)
		return err
	})
	return stat, err
}

// setACLAttempts are the attempts at one SetACL.
type setACLAttempts struct {
	path    string
	acl     []zk.ACL
	version int32
	inDoubt bool // an earlier attempt may have been applied
}

func (w *setACLAttempts) attempt(ctx context.Context, s *Session) (*zk.Stat, error) {
	if w.inDoubt && w.version != AnyVersion {
		if stat, err := w.findOut(ctx, s); stat != nil || err != nil {
			return stat, err
		}
	}
	stat, err := setACL(ctx, s, w.path, w.acl, w.version)
	w.inDoubt = w.inDoubt || ambiguous(err)
	return stat, err
}

// findOut returns the node's Stat if an earlier attempt has been applied, and nothing if none has.
func (w *setACLAttempts) findOut(ctx context.Context, s *Session) (*zk.Stat, error) {
	now, err := afterSync(ctx, s, w.path, getACL)
	switch {
	case err != nil:
		return nil, err // no node and no rights, too, may be what our write or somebody's later one has led to
	case now.stat.Aversion == w.version:
		w.inDoubt = false
		return nil, nil
	case now.stat.Aversion == w.version+1 && slices.Equal(now.acl, w.acl):
		return now.stat, nil
	default:
		return nil, unknownOutcome(fmt.Errorf("version of the list is %d now", now.stat.Aversion))
	}
}

type aclAndStat struct {
	acl  []zk.ACL
	stat *zk.Stat
}

func getACL(ctx context.Context, s *Session, path string) (aclAndStat, error) {
	return send(ctx, s, request[aclAndStat]{opGetACL, func(b []byte) []byte {
		return jute.AppendString(b, path)
	}, func(r *jute.Reader, _ int64) aclAndStat {
		return aclAndStat{readACL(r), readStat(r)}
	}}, nil)
}

func setACL(ctx context.Context, s *Session, path string, acl []zk.ACL, version int32) (*zk.Stat, error) {
	return send(ctx, s, request[*zk.Stat]{opSetACL, func(b []byte) []byte {
		return jute.AppendInt32(appendACL(jute.AppendString(b, path), acl), version)
	}, answerStat}, nil)
}

func appendACL(b []byte, acl []zk.ACL) []byte {
	b = jute.AppendInt32(b, int32(len(acl)))
	for _, a := range acl {
		b = jute.AppendString(jute.AppendString(jute.AppendInt32(b, a.Perms), a.Scheme), a.ID)
	}
	return b
}

func readACL(r *jute.Reader) []zk.ACL {
	const smallest = 4 + 4 + 4
	acl := make([]zk.ACL, r.Count(smallest))
	for i := range acl {
		acl[i] = zk.ACL{Perms: r.Int32(), Scheme: r.String(), ID: r.String()}
	}
	return acl
}
