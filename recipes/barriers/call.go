package barriers

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
	"github.com/gocurator/curator/recipes/internal/event"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/internal/identity"
)

// Waited describes a call that has waited at a barrier.
type Waited struct {
	Op       string        // "wait" at a Barrier; "enter" or "leave" at a DoubleBarrier
	Path     string        // the barrier's, as the client names it
	Duration time.Duration // the call's
	Err      error         // what the call returns
}

// HookBarrierWaited is a clienttrace.Hook that learns how long each Wait, Enter
// and Leave of a client has waited, before the call returns. Of several calls of
// Leave on one Passage, it learns of the first.
type HookBarrierWaited interface {
	BarrierWaited(w Waited)
}

var hookWaited = framework.NewHookKind[HookBarrierWaited]()

// The lines of the log.
var (
	eventRaised      = event.Kind{Info: "barrier raised"}
	eventLowered     = event.Kind{Info: "barrier lowered"}
	eventOpened      = event.Kind{Info: "double barrier opened"}
	eventNodeDeleted = event.Kind{Warn: "member of a double barrier was deleted while it waited, and enters again"}
)

// place is what all calls of a barrier know: the client, and the barrier's node.
type place struct {
	client *framework.Client
	path   string
	fault  error // see unusable
	events event.Source
}

func newPlace(c *framework.Client, path string) place {
	fault := framework.ValidatePath(path)
	if path == "/" { // it is always there, and has other children than members
		fault = fmt.Errorf("%w: the root is no barrier", zk.ErrInvalidPath)
	}
	return place{client: c, path: path, fault: fault, events: event.Of(c, path)}
}

// unusable returns why the barrier cannot be used, or nil. Every call returns that
// error. The zero value of a barrier has no client.
func (p place) unusable() error {
	if p.client == nil {
		return &framework.ConfigError{Name: "client", Value: "nil", Reason: "must not be nil"}
	}
	return p.fault
}

func (p place) child(name string) string { return znode.Join(p.path, name) }

// identity is the data of a node that says who has created it.
func (p place) identity(now time.Time) []byte {
	return identity.Node(identity.Own(framework.Extend(p.client).ServiceName()), now, nil)
}

// errorOf names the call that returns the error, unless the error names it.
func (p place) errorOf(op string, err error) error {
	if _, named := err.(*RaisedError); err == nil || named { //nolint:errorlint // one that is wrapped does not name the call
		return err
	}
	return &framework.OpError{Op: op, Path: p.path, Err: err}
}

// waited notifies hooks of a call that is about to return, and returns its error.
// The caller waits for the hooks.
func (p place) waited(op string, begun time.Time, err error) error {
	err = p.errorOf(op, err)
	for _, h := range hookWaited.Of(p.client) {
		h.BarrierWaited(Waited{Op: op, Path: p.path, Duration: time.Since(begun), Err: err})
	}
	return err
}

// look is one step of a call. All of its requests are sent in one session.
type look func(ctx context.Context, s *framework.Session) error

// ask makes a call that is over with its first successful look.
func (p place) ask(ctx context.Context, op string, look look) error {
	if err := p.unusable(); err != nil {
		return p.errorOf(op, err)
	}
	c := p.call()
	err := c.run(ctx, func(ctx context.Context, s *framework.Session) error { return done(look(ctx, s)) })
	return p.errorOf(op, c.orUnknown(err))
}

// call is a call that is under way. Until its context ends, it survives outages
// and losses of the session, and repeats a write whose reply was lost: all writes
// of this package can be repeated without harm. Any other error ends the call.
type call struct {
	follow.Loop
	place
	wrote bool // a write was applied, or may have been
}

func (p place) call() *call {
	c := &call{place: p}
	c.Client, c.Ends, c.Awaited = p.client, endsCall, true
	return c
}

// endsCall is the Ends of a call.
func endsCall(err error) bool {
	return follow.Judge(err) == follow.Trouble && !reason.Is(err, framework.ErrOutcomeUnknown)
}

// run calls look again and again, until it returns follow.ErrDone.
func (c *call) run(ctx context.Context, look look) error {
	c.Look = func(ctx context.Context, s *framework.Session) error {
		err := look(ctx, s)
		c.wrote = c.wrote || reason.Is(err, framework.ErrOutcomeUnknown)
		return err
	}
	return c.Run(ctx)
}

// orUnknown adds framework.ErrOutcomeUnknown to the error of a call if one of its
// writes may have been applied.
func (c *call) orUnknown(err error) error {
	if err == nil || !c.wrote || reason.Is(err, framework.ErrOutcomeUnknown) {
		return err
	}
	return fmt.Errorf("%w: %w", framework.ErrOutcomeUnknown, err)
}

// awaitChange waits until a node changes. It returns false without waiting if the
// node is missing, or if the caller does not want to wait for the node that is
// there.
func (c *call) awaitChange(ctx context.Context, path string, wanted func(*zk.Stat) bool) (waited bool, err error) {
	there, stat, watch, err := c.client.ExistsW(ctx, path)
	if err != nil {
		return false, err
	}
	defer watch.Stop()
	if !there || !wanted(stat) {
		return false, nil
	}
	c.Recovered()
	_, err = watch.Wait(ctx)
	return true, err
}

// done turns the success of a look into the end of the loop.
func done(err error) error {
	if err == nil {
		return follow.ErrDone
	}
	return err
}

// ignore returns the error, unless it is one of the expected ones.
func ignore(err error, expected ...error) error {
	if slices.ContainsFunc(expected, func(e error) bool { return reason.Is(err, e) }) {
		return nil
	}
	return err
}
