package framework

import (
	"context"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/internal/reason"
)

// AlsoSiblings is WithSiblings, and asks for the children of a second node, too: the
// creation and both lists are one write to the connection, and take one round trip.
// If Create succeeds, read has what Siblings would have returned for the second node:
// its names, or zk.ErrNoNode. It has neither if the list could not be had, also
// because the creation had to be tried again and had been carried out before.
//
// The names of the second node are never older than the siblings of the same
// creation. A server carries out the requests of a connection one after the other: a
// list shows all transactions that an earlier one has shown, and the creation.
//
// The option is for one Create at a time. It is not for transactions.
func (e Extension) AlsoSiblings(parent string, read *SiblingsRead) CreateOption {
	also := &alsoListed{parent: e.full(parent), into: read}
	return func(c *createConfig) { c.siblings, c.also = true, also }
}

// alsoListed is a second node whose children a create lists.
type alsoListed struct {
	parent string // the server's path
	into   *SiblingsRead
}

func (a *alsoListed) validate() error {
	switch {
	case a == nil:
		return nil
	case a.into == nil:
		return isNil("read")
	}
	return validatePath(a.parent)
}

// forget forgets what an attempt has listed, before the next.
func (a *alsoListed) forget() {
	if a != nil {
		*a.into = SiblingsRead{}
	}
}

// list is a request for the names of a node's children, right behind a create.
type list struct {
	request proto.Request[[]string]
	gone    prefixes
}

func (c *Client) listOf(parent string) list {
	return list{proto.ChildNames(parent), c.givenUp.under(parent)}
}

// await returns what the list has found. There is neither a name nor an error if it
// was not sent, or not answered.
func (l list) await(ctx context.Context, s *Session, call *transport.Call) SiblingsRead {
	if call == nil {
		return SiblingsRead{}
	}
	found, err := pending[[]string]{session: s, request: l.request, call: call}.await(ctx, nil)
	switch {
	case err == nil:
		return SiblingsRead{Names: l.gone.cutFrom(found)}
	case reason.Is(err, zk.ErrNoNode):
		return SiblingsRead{Err: zk.ErrNoNode}
	default:
		return SiblingsRead{}
	}
}
