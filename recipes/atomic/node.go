package atomic

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/event"
)

// node is a node whose data is one value. It remembers what this process knows of
// the node, so that a change which follows another one is a single request.
type node struct {
	client *framework.Client
	path   string
	cfg    config
	events event.Source

	// turn is a mutex for which a caller waits no longer than its context lasts. A
	// call takes it to read the node before a change, and to write it. So goroutines
	// of one process do not compete at the server. No code of the user runs meanwhile.
	turn    chan struct{}
	receipt receipt // belongs to the call that has the turn

	mu sync.Mutex // protects the following field
	share
}

// snapshot is what a node was like at one moment. It is immutable.
type snapshot struct {
	at      time.Time
	session int64 // the client's session before the request
	exists  bool
	data    []byte
	version int32
	czxid   int64
	owner   int64 // the session of an ephemeral node, else 0
}

// remembered is for how long a node is taken to be as it was. A write is refused if
// it is not, by its version. The time is short, because a node that was deleted
// and re-created may have the same version again. It ends with the session, too.
//
// While other clients write, too, the time is one round trip: enough for the next of
// several changes in a row, and too short for a later one.
const remembered = time.Second

// isSame reports whether two snapshots are of the same write of the same node.
func (s *snapshot) isSame(other *snapshot) bool {
	return s.exists == other.exists && s.czxid == other.czxid && s.version == other.version
}

// refusal is why a node cannot be written, or nil.
func (s *snapshot) refusal() error {
	switch {
	case s.owner != 0:
		return ErrEphemeral
	case s.exists && s.version == framework.AnyVersion:
		return ErrNoVersion
	}
	return nil
}

func newNode(c *framework.Client, path string, opts []Option) *node {
	n := &node{client: c, path: path, events: event.Of(c, path), turn: make(chan struct{}, 1)}
	n.share = share{last: &snapshot{}, roundTrip: 10 * time.Millisecond} // a guess
	n.cfg.check(path)
	for _, o := range opts {
		if o == nil {
			n.cfg.fault = isNil("option")
			continue
		}
		o(&n.cfg)
	}
	if c == nil {
		n.cfg.fault = isNil("client")
	}
	return n
}

// now is the time of a clock that goes on while the machine is suspended.
func (n *node) now() time.Time { return insider.Of(n.client).Clock() }

func (n *node) snapshotOf(session int64, data []byte, stat *zk.Stat) *snapshot {
	return &snapshot{n.now(), session, true, data, stat.Version, stat.Czxid, stat.EphemeralOwner}
}

// recall returns the node if it is taken to be as it was, or nil.
func (n *node) recall() *snapshot {
	now, known, longest := n.now(), n.shared(), remembered
	if known.isCrowded(now) {
		longest = known.roundTrip
	}
	s := known.seen
	if s == nil || s.session == 0 || s.session != n.client.SessionID() || n.now().Sub(s.at) >= longest {
		return nil
	}
	return s
}

// noteRead replaces what was known when the read began. If another request has
// been faster, its answer stays: the one of the read may be older.
func (n *node) noteRead(before, s *snapshot) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.seen == before {
		n.seen, n.running = s, false
	}
}

// forget drops what is known of the node, which has changed, or may have. beaten
// says that another client was faster.
func (n *node) forget(beaten bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.endRunLocked()
	if beaten {
		n.beatenAt = n.now()
	}
}

// refuse is the error of a call with a node or a function that cannot be used, or
// nil.
func (n *node) refuse(op string, isNilFunction bool) error {
	switch {
	case n == nil:
		return &framework.OpError{Op: op, Err: errNotMade}
	case n.cfg.fault != nil:
		return n.failed(op, n.cfg.fault)
	case isNilFunction:
		return n.failed(op, isNil("function"))
	}
	return nil
}

// failed is the error of an operation, or nil. It takes the place of what
// framework's error says about its own operation.
func (n *node) failed(op string, err error) error {
	if err == nil {
		return nil
	}
	return &framework.OpError{Op: op, Path: n.path, Err: withoutOp(err)}
}

// failedChange is failed for a change. Its error matches framework.ErrOutcomeUnknown
// if the change may be applied, whatever the error of a request was.
func (n *node) failedChange(op string, err error, mayBeApplied bool) error {
	err = reason.Without(err, framework.ErrOutcomeUnknown)
	if mayBeApplied {
		err = fmt.Errorf("%w: %w", framework.ErrOutcomeUnknown, withoutOp(err))
	}
	return n.failed(op, err)
}

// load reads the node after the server has caught up.
func (n *node) load(ctx context.Context, op string) (*snapshot, error) {
	if err := n.refuse(op, false); err != nil {
		return nil, err
	}
	s, err := n.newCall(ctx, nil).readNode(true)
	return s, n.failed(op, err)
}

// dropReceipt gives the receipt up, if there is one. Without it, no attempt that is
// still on its way can be applied.
func (n *node) dropReceipt() {
	if n.receipt.path != "" {
		framework.Extend(n.client).DeleteInBackground(n.receipt.path)
		n.receipt = receipt{}
	}
}
