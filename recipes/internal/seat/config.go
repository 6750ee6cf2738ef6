package seat

import (
	"fmt"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/order"
)

// Config is a recipe's configuration of its lock. It does not change afterwards.
type Config struct {
	Client *framework.Client
	Path   string   // the node whose children are the contenders
	Kind   string   // the name of our nodes
	Kinds  []string // the names of all nodes that count; Kind alone if it is nil

	// Blocks says which contenders ahead of ours keep it waiting. It is nil for a lock
	// whose nodes are taken by Turn.Take.
	Blocks order.Blocks

	// EntersAfter reports whether a contender of the kind ours, with one of the
	// kind ahead as the only one before it, is admitted when that one's node is
	// deleted. It is not if a node that blocks it may take that one's place. If
	// EntersAfter is nil, a contender always looks. It must be a pure function.
	EntersAfter order.Blocks

	// Waits says that a holder of the lock only waits for something else, see terms.
	Waits bool

	// WatchSelf makes every waiter notice that its own node is deleted, at the
	// price of a second watch. Without it, only those do that are next.
	WatchSelf bool

	Recipe  string // the name for tracers and log lines
	Readers string // the kind of the nodes of readers, if there are any
	Op      string // the call that the user made, for errors
	Name    string // the path that the user knows, for errors; Path if it is empty

	// Reenters reports whether an acquire under the lease of a holder would
	// re-enter. It is nil if none would.
	Reenters func(holderNode string) bool

	// NotAcquired makes the error of an acquire that ends without the lock
	// because of others.
	NotAcquired func(NotAcquired) error

	Options
}

// Options are the options that users may set for every lock.
type Options struct {
	Label     string // the lock's name in spans and metrics
	Data      []byte // the nodes' data, if ExactData is set
	ExactData bool   // the nodes have Data, not the identity
	Anonymous bool   // the nodes have no identity
	Kazoo     bool   // the names are those of Python's kazoo
	Revocable bool   // a request to give the lock up ends the hold
	Fault     error  // why an option is invalid, or nil

	Policy
}

// Policy says what a release does. The zero value gives the node back at once.
type Policy struct {
	MaxReuses   int           // how many acquires in a row get the seat without a request
	HandOver    time.Duration // for how long from its grant the seat is passed on although others wait
	Idle        time.Duration // for how long a seat that nobody holds is parked
	MinimumHold time.Duration // for how long from its grant a lock is kept at least
}

// SetData sets the nodes' data as it is.
func (o *Options) SetData(data []byte) {
	o.Data, o.ExactData = data, true
	switch {
	case len(data) > order.OwnData:
		o.Fault = Invalid("node data", fmt.Sprintf("%d bytes", len(data)), fmt.Sprintf("must be no more than %d bytes", order.OwnData))
	case IsRevocation(data):
		o.Fault = Invalid("node data", string(data), "would ask the holder to give the lock up")
	}
}
