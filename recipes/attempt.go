package recipes

import (
	"context"
	"errors"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/printable"
	"github.com/gocurator/curator/recipes/internal/lockloop"
)

// attempt is one acquire: how it is meant, and who is told of it.
type attempt struct {
	wait  bool
	since time.Time
	trace *acquireTrace // nil if nobody is told
}

// acquireTrace tells the tracer of one acquire. The nil *acquireTrace tells nobody.
type acquireTrace struct {
	teller     *framework.Teller // for an acquire on a goroutine of the client, which a tracer must not hold up; else nil
	ctx        context.Context   // of the acquire, if there is a teller
	to         AcquireTracer     // for tell alone, as it may come late
	over       bool              // it was told of the end
	handedOver bool
	downgraded bool
}

// begin makes an attempt, and tells the client's tracer, if it has one that wants to know.
func begin(ctx context.Context, a Acquire) (context.Context, attempt) {
	try := attempt{wait: !a.Try, since: time.Now()}
	if tracer, ok := a.Client.Tracer().(Tracer); ok {
		try.trace = newAcquireTrace(ctx, a)
		ctx = try.trace.start(ctx, a, tracer)
	}
	return ctx, try
}

// newAcquireTrace returns a trace that calls the tracer directly, unless the goroutine is the client's own: as a latch's is.
// The user's own goroutine takes as long as its tracer does.
func newAcquireTrace(ctx context.Context, a Acquire) *acquireTrace {
	if a.Recipe != RecipeLeaderLatch {
		return &acquireTrace{}
	}
	return &acquireTrace{teller: a.Client.NewTeller(), ctx: ctx}
}

// start returns the context for the rest of the acquire.
func (t *acquireTrace) start(ctx context.Context, a Acquire, tracer Tracer) context.Context {
	started := ctx
	begin := func() { started, t.to = tracer.StartAcquire(ctx, a) }
	if t.teller == nil {
		begin()
		return started
	}
	if !t.teller.Tell(ctx, begin) {
		return ctx
	}
	return started
}

// tell calls the tracer, and reports whether it has returned.
func (t *acquireTrace) tell(call func(AcquireTracer)) bool {
	if t.teller == nil {
		call(t.to)
		return true
	}
	return t.teller.Tell(t.ctx, func() {
		if t.to != nil { // or it never heard of the beginning
			call(t.to)
		}
	})
}

// traced is an acquire from its begin to its end, and to the begin of the hold. The lease has the values of ctx, and not
// those that tracing adds for the acquire.
func traced(ctx context.Context, a Acquire, acquire func(context.Context, attempt) (*hold, error)) (*Lease, error) {
	during, try := begin(ctx, a)
	defer try.trace.left()
	h, err := acquire(during, try)
	if err != nil {
		try.trace.ended(nil, err)
		return nil, err
	}
	lease, told := h.newLease(ctx), false
	defer func() {
		if !told { // the user's tracer has panicked, and nobody will have the lease
			lease.Release(ctx)
		}
	}()
	try.trace.ended(h, nil)
	h.follow(lease, a, try.trace)
	lease.watch(a)
	told = true
	return lease, nil
}

func (t *acquireTrace) ended(h *hold, err error) {
	if t == nil {
		return
	}
	t.over = true
	end := AcquireEnd{Outcome: outcomeOf(err), Err: err, HandedOver: t.handedOver, Downgraded: t.downgraded}
	if h != nil {
		end.Token = h.token
	}
	t.tell(func(to AcquireTracer) { to.Ended(end) })
}

// left is deferred: code of the user's that panics, such as a Locker in a multi-lock, ends an acquire without a word.
func (t *acquireTrace) left() {
	if t != nil && !t.over {
		t.ended(nil, errPanicked)
	}
}

var errPanicked = errors.New("panicked")

func outcomeOf(err error) Outcome {
	switch {
	case err == nil:
		return Acquired
	case errors.Is(err, ErrQueueFull):
		return QueueFull
	case errors.Is(err, context.DeadlineExceeded):
		return TimedOut
	case errors.Is(err, context.Canceled):
		return Canceled
	case errors.Is(err, ErrNotAcquired):
		return NotAcquired
	default:
		return Failed
	}
}

// link returns what our nodes are to say of our trace.
func (t *acquireTrace) link() map[string]string {
	if t == nil {
		return nil
	}
	var link map[string]string
	if !t.tell(func(to AcquireTracer) { link = to.Trace() }) {
		return nil
	}
	return link
}

func (t *acquireTrace) queuedLocally(ahead int) {
	if t != nil {
		t.tell(func(to AcquireTracer) { to.QueuedLocally(ahead) })
	}
}

func (t *acquireTrace) isHandedOver() {
	if t != nil {
		t.handedOver = true
	}
}

// distrusted tells of a node that was admitted, and is given up because of an interruption between the grant and now.
func (t *acquireTrace) distrusted(c *framework.Client, node framework.Created) {
	if t == nil {
		return
	}
	reason := context.Cause(node.Session.Trusted(c.ErrorPolicy()))
	if reason == nil { // the connection is back already
		reason = framework.ErrSuspended
	}
	t.Abandoned(reason)
}

func (t *acquireTrace) isDowngraded() {
	if t != nil {
		t.downgraded = true
	}
}

// observer returns nil if nobody is told: a nil *acquireTrace would not do.
func (t *acquireTrace) observer() lockloop.Observer {
	if t == nil {
		return nil
	}
	return t
}

// Queued, Waiting, Woken and Abandoned implement lockloop.Observer.

func (t *acquireTrace) Queued(node framework.Created, ahead, length int) {
	t.tell(func(to AcquireTracer) {
		to.Queued(Queued{Node: node.Path, Czxid: node.Czxid, Ahead: ahead, Length: length})
	})
}

func (t *acquireTrace) Waiting(ahead, holder lockloop.Other) {
	t.tell(func(to AcquireTracer) {
		to.Waiting(Waiting{Ahead: readOther(ahead), Holder: readOther(holder)})
	})
}

func (t *acquireTrace) Woken(gone bool) {
	t.tell(func(to AcquireTracer) { to.Woken(gone) })
}

func (t *acquireTrace) Abandoned(reason error) {
	t.tell(func(to AcquireTracer) { to.Abandoned(reason) })
}

func readOther(o lockloop.Other) Other {
	return Other{Node: printable.String(o.Node), Identity: ReadIdentity(o.Data), Since: o.Since}
}
