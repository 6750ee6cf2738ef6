package barriers

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/znode"
	"github.com/gocurator/curator/recipes/internal/identity"
)

// errAnew means that the member's node was deleted, or was counted when it was
// not there, so that the member must begin anew under another name.
var errAnew = errors.New("the member's node is stale")

// entry is one Enter. Its node has a name of its own, which is the same in
// every session: a node that a lost session has left, and one that a late
// request makes, are never counted beside it.
type entry struct {
	barrier *DoubleBarrier
	name    string
	data    []byte
	node    framework.Created // of the present session
	creates int               // attempts to create the node

	seen        int  // children of the barrier, when the node was created
	responsible bool // as far as we know, n members wait, and we must open
	looked      bool // at the rounds, since the node was created

	round []string // the names of the members, once the barrier is open
}

// memberPrefix begins the names of members in our own layout. The time that
// follows it puts them in order.
const memberPrefix = "m-"

func (b *DoubleBarrier) newEntry() *entry {
	now := time.Now()
	e := &entry{
		barrier: b,
		name:    fmt.Sprintf("%s%011x-%s", memberPrefix, now.UnixMilli(), rand.Text()),
		data:    identity.Node(identity.Own(framework.Extend(b.client).ServiceName()), now, nil),
	}
	if b.cfg.curator {
		e.name = strings.ToLower(rand.Text())
	}
	return e
}

func (e *entry) path() string { return znode.Join(e.barrier.path, e.name) }

// enterInSession waits for the opening in one session.
func (e *entry) enterInSession(ctx context.Context) error {
	s, err := e.barrier.client.Session(ctx)
	if err != nil {
		return err
	}
	if e.barrier.cfg.curator {
		return e.enterCurator(ctx, s)
	}
	if err := e.create(ctx, s); err != nil {
		return err
	}
	return e.awaitOpening(ctx)
}

// create creates the node, unless there is one of this session.
func (e *entry) create(ctx context.Context, s *framework.Session) error {
	for e.node.Session != s {
		e.creates++
		node, err := e.barrier.client.Create(ctx, e.path(), e.data,
			framework.WithMode(framework.Ephemeral), framework.WithParents(), framework.WithSiblings())
		if errors.Is(err, zk.ErrNodeExists) { // of a lost session, or of a request whose reply was lost
			err = e.barrier.client.Delete(ctx, e.path(), framework.AnyVersion, framework.Quietly())
		}
		if err != nil {
			return err
		}
		if node.Session == s {
			e.node, e.looked, e.seen = node, false, len(node.Siblings)
			e.responsible = node.Siblings == nil || len(node.Siblings) >= e.barrier.n
		}
	}
	return nil
}
