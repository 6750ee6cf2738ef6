package seat

import (
	"fmt"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/order"
)

// Config is a recipe's configuration of its lock. It is immutable.
type Config struct {
	Client *framework.Client
	Path   string   // the parent of the contenders' nodes
	Kind   string   // the kind of this lock's nodes
	Kinds  []string // the kinds of all contenders; Kind alone if it is nil

	// Blocks reports which contenders ahead must leave before this one is admitted. It is
	// nil for a lock whose nodes are created by Turn.Take.
	Blocks order.Blocks

	// EntersAfter reports whether a contender of the kind ours is admitted when the only
	// node before it, of the kind ahead, is deleted. It returns false if another blocking
	// node may take the place of the deleted one. If EntersAfter is nil, a contender
	// always re-reads the queue. It must be a pure function.
	EntersAfter order.Blocks

	// Waits says that a holder of the lock only waits for another event; see terms.
	Waits bool

	// WatchSelf makes every waiter notice the deletion of its node, at the cost of a
	// second watch. Without WatchSelf, only the next contender in the queue notices it.
	WatchSelf bool

	Recipe  string // the recipe's name for tracers and log lines
	Readers string // the kind of the readers' nodes, or empty
	Op      string // the user's call, for errors
	Name    string // the path that the user knows, for errors; the default is Path

	// Reenters reports whether an acquire under the lease of a holder would re-enter. It
	// is nil if no acquire would.
	Reenters func(holderNode string) bool

	// NotAcquired returns the error of an acquire that ends without the lock because of
	// other contenders.
	NotAcquired func(NotAcquired) error

	Options
}

// Options are the options that users may set for every lock.
type Options struct {
	Label     string // the lock's name in spans and metrics
	Data      []byte // the nodes' data if ExactData is set
	ExactData bool   // the nodes have Data instead of the identity
	Anonymous bool   // the nodes have no identity
	Kazoo     bool   // the nodes have the names of Python's kazoo
	Revocable bool   // a request to give the lock up ends the hold
	Fault     error  // why an option is invalid, or nil

	Policy
}

// Policy is what a release does with the node. The zero value deletes the node at once.
type Policy struct {
	MaxReuses   int           // how many acquires in a row can get the seat without a request
	HandOver    time.Duration // for how long after its grant the seat is handed on although others wait
	Idle        time.Duration // for how long a seat without holders is parked
	MinimumHold time.Duration // for how long a lock stays held after its grant, at least
}

// SetData sets the nodes' data exactly.
func (o *Options) SetData(data []byte) {
	o.Data, o.ExactData = data, true
	switch {
	case len(data) > order.OwnData:
		o.Fault = Invalid("node data", fmt.Sprintf("%d bytes", len(data)),
			fmt.Sprintf("must be no more than %d bytes", order.OwnData))
	case IsRevocation(data):
		o.Fault = Invalid("node data", string(data), "would ask the holder to give the lock up")
	}
}
