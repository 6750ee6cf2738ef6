package queue

import (
	"fmt"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/claim"
	"github.com/gocurator/curator/recipes/internal/lockloop"
)

// Config is a recipe's configuration of its queue. It does not change
// afterwards.
type Config struct {
	Client *framework.Client
	Path   string   // the node whose children are the contenders
	Kind   string   // the name of our nodes
	Kinds  []string // the names of all nodes that count; Kind alone if it is nil

	Order lockloop.Order // how contenders are admitted
	Count lockloop.Limit // how many nodes there may be; it replaces Order, and is for Take alone

	// Local says that all objects of the lock that one client has share a queue
	// in the process. If they do, only the holder and the next waiter have
	// nodes, and readers that are not behind others that wait in the process.
	Local bool

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

// Options are the options that users may set for every queue.
type Options struct {
	Label      string        // the lock's name in spans and metrics
	Data       []byte        // the nodes' data, if ExactData is set
	ExactData  bool          // the nodes have Data, not the identity
	Anonymous  bool          // the nodes have no identity
	Revocable  bool          // a request to give the lock up ends the claim
	QueueLimit int           // how many contenders an acquire waits for; 0 means any number
	HandOvers  int           // how often goroutines of one client pass the lock on
	HandOver   time.Duration // for how long they pass it on
	CachedUses int           // how often goroutines of one client take a lock that is cached
	CachedIdle time.Duration // for how long a lock that nobody holds is cached
	Fault      error         // why an option is invalid, or nil

	MinimumHold time.Duration // for how long from its grant a lock is kept at least
}

// SetData sets the nodes' data as it is.
func (o *Options) SetData(data []byte) {
	o.Data, o.ExactData = data, true
	switch {
	case len(data) > lockloop.OwnData:
		o.Fault = Invalid("node data", fmt.Sprintf("%d bytes", len(data)), fmt.Sprintf("must be no more than %d", lockloop.OwnData))
	case claim.IsRevocation(data):
		o.Fault = Invalid("node data", string(data), "would ask the holder to give the lock up")
	}
}

// Invalid returns the error of an invalid value. It matches zk.ErrBadArguments.
func Invalid(name, value, reason string) error {
	return &framework.ConfigError{Name: name, Value: value, Reason: reason}
}

// IsNil returns the error of an argument that must not be nil.
func IsNil(name string) error { return Invalid(name, "nil", "must not be nil") }
