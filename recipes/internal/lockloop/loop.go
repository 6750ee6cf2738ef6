package lockloop

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/pauses"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/follow"
)

// Loop queues for one lock, and waits in the queue for admission. [ByOrder]
// makes one. It is safe for concurrent use.
type Loop struct {
	nodes         Nodes
	order         Order                   // the zero value if Places count the nodes
	newNode       string                  // the path that a contender asks for
	warned        atomic.Bool             // see warnOfOthers
	warnedUnowned atomic.Bool             // see noteOwner
	refused       atomic.Pointer[refusal] // the last attempt's; nil if it was not refused
}

// Nodes describes which nodes are a lock's contenders.
type Nodes struct {
	Client *framework.Client
	Path   string   // the lock's path; the contenders are its children
	Kind   string   // the name of our nodes
	Kinds  []string // the names of all nodes that count
}

// Attempt is one run of the loop.
type Attempt struct {
	// Wait makes Run wait for other contenders. Without it, Run returns at once
	// if some keep us waiting, with a nil Err.
	Wait bool

	// Data is the data of our nodes. It describes their owner.
	Data []byte

	// Resume is a node of ours that was admitted before, or nil. If it is not
	// good any more, another one takes its place.
	Resume *framework.Created

	// Crowd is shared by the attempts that look at the queue together, or nil.
	Crowd *Crowd

	// Trouble is the last error that the attempt has outlasted before Run, or
	// nil: others have made its requests until then.
	Trouble error

	// These are told of the progress, by the goroutine that runs the attempt.
	// Each may be nil.
	Observer  Observer
	OnQueued  func(framework.Created) // a node of ours is in the queue
	OnBlocked func(NotAdmitted)       // we have to wait

	// OnTrouble is told of each error that the attempt outlasts, and with nil
	// that all is well. Other goroutines may call it, too. It may be nil.
	OnTrouble func(error)

	// OnAbandon deletes a node that is given up. Its ctx is Run's. If OnAbandon
	// is nil, the client deletes the node; see Discard.
	OnAbandon func(ctx context.Context, node framework.Created)
}

// ErrCorrupted means that something below a lock's path was not put there by a
// server or a contender.
var ErrCorrupted = errors.New("corrupted data")

var (
	// errStale means that our node is gone or belongs to a session that is
	// over, so that we must queue again.
	errStale = errors.New("contender node is stale")

	// errHeld means that others are ahead of us and we do not wait.
	errHeld = errors.New("held")

	// errDue means that it is time to find out who the holder is.
	errDue = errors.New("holder is not known")

	// errAgain means that the queue has changed and must be looked at again.
	errAgain = errors.New("queue has changed")
)

// Run queues until a node of ours is admitted, or ctx ends. The session of the
// returned node was alive when Run saw the grant. The caller must delete the
// node, with a guaranteed delete. Its watch on it, if there is one, is the
// caller's, too. A waiter outlasts every outage; only its context ends it, and
// the error has the last one that it has outlasted.
func (l *Loop) Run(ctx context.Context, a Attempt) (framework.Created, *OwnWatch, *NotAdmitted) {
	c := newContender(l, a)
	ctx = framework.Extend(l.nodes.Client).OnTrouble(ctx, c.recovery.Note)
	vanished := pauses.Vanished()
	for {
		err := c.queue(ctx)
		if err == nil {
			l.refused.Store(nil)
			return c.node, c.own, nil
		}
		if ctx.Err() != nil || !c.queuesAgain(ctx, err) {
			c.seen.Err = ErrorOf(ctx, err, c.recovery.Trouble())
			l.noteRefusal(c.seen)
			return framework.Created{}, nil, &c.seen
		}
		if reason.Is(err, errStale) && c.node.Session.Context().Err() == nil {
			_ = follow.Pause(ctx, l.nodes.Client, &vanished) // the next attempt says that ctx has ended
		}
	}
}

// EndsAcquire is the Ends of a follow.Recovery for an acquire: it outlasts
// outages, and losses of the session. Its caller is told of all else.
func EndsAcquire(err error) bool { return !framework.IsConnectionError(err) }

// Discard deletes the node of an attempt that is over, whatever happens. It
// waits for the deletion unless ctx has ended. In any case the server handles
// the caller's next request after the deletion.
func Discard(ctx context.Context, c *framework.Client, node string) {
	handled := false
	defer func() {
		if !handled { // ctx has ended, or is a context of the user's own that has panicked
			framework.Extend(c).DeleteInBackground(node)
		}
	}()
	if ctx.Err() == nil {
		c.Delete(ctx, node, framework.AnyVersion, framework.WithGuarantee())
		handled = true
	}
}
