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

// node is a node whose data is one value. It remembers the last known state of the node,
// so that consecutive changes cost one request each.
type node struct {
	client *framework.Client
	path   string
	cfg    config
	events event.Source

	// turn is a mutex that a caller can stop waiting for. A call holds it to read the node
	// before a change, and to write the node. So goroutines of one process do not compete
	// at the server. No code of the user runs with turn held.
	turn    chan struct{}
	receipt receipt // owned by the holder of turn

	mu sync.Mutex // protects the following field
	share
}

// snapshot is the state of a node at one moment. It is immutable.
type snapshot struct {
	at      time.Time
	session int64 // the client's session before the request
	exists  bool
	data    []byte
	version int32
	czxid   int64
	owner   int64 // the session of an ephemeral node, else 0
}

// remembered is how long a call may rely on the last known state of a node, within one
// session. If the node has changed, the server refuses the write by its version. The time
// is short, because a re-created node may have the same version again.
//
// While other clients write, too, the time is one round trip: long enough for consecutive
// changes, and too short for a later change.
const remembered = time.Second

// isSame reports whether two snapshots are of the same write of the same node.
func (s *snapshot) isSame(other *snapshot) bool {
	return s.exists == other.exists && s.czxid == other.czxid && s.version == other.version
}

// refusal returns why the node cannot be written, or nil.
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

// now returns the time of a clock that continues while the machine is suspended.
func (n *node) now() time.Time { return insider.Of(n.client).Clock() }

func (n *node) snapshotOf(session int64, data []byte, stat *zk.Stat) *snapshot {
	return &snapshot{n.now(), session, true, data, stat.Version, stat.Czxid, stat.EphemeralOwner}
}

// recall returns the last known state if a call may rely on it, or nil.
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

// noteRead remembers the result s of a read. If another request was answered since the read
// began, then that answer stays, because s may be older.
func (n *node) noteRead(before, s *snapshot) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.seen == before {
		n.seen, n.running = s, false
	}
}

// forget forgets the last known state, because the node may have changed. beaten means that
// another client has written first.
func (n *node) forget(beaten bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.endRunLocked()
	if beaten {
		n.beatenAt = n.now()
	}
}

// refuse returns the error of an invalid node or function, or nil.
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

// failed returns err as an error of the operation op, in place of the operation that
// package framework puts into err, or nil.
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

// dropReceipt deletes the receipt, if there is one. Then no attempt in flight can be
// applied.
func (n *node) dropReceipt() {
	if n.receipt.path != "" {
		framework.Extend(n.client).DeleteInBackground(n.receipt.path)
		n.receipt = receipt{}
	}
}
