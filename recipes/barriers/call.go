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

// Waited describes the wait of one call at a barrier.
type Waited struct {
	Op       string        // "wait" at a Barrier; "enter" or "leave" at a DoubleBarrier
	Path     string        // the barrier's path, as this client sees it
	Duration time.Duration // how long the call took
	Err      error         // the error that the call returns
}

// HookBarrierWaited is a clienttrace.Hook that receives the duration of each Wait, Enter
// and Leave of a client, before the call returns. If Leave is called several times on one
// Passage, only the first call is reported.
type HookBarrierWaited interface {
	BarrierWaited(w Waited)
}

var hookWaited = framework.NewHookKind[HookBarrierWaited]()

// The log lines.
var (
	eventRaised      = event.Kind{Info: "barrier raised"}
	eventLowered     = event.Kind{Info: "barrier lowered"}
	eventOpened      = event.Kind{Info: "double barrier opened"}
	eventNodeDeleted = event.Kind{Warn: "member of a double barrier was deleted while it waited, and enters again"}
)

// place is what all calls of a barrier share: the client, and the barrier's node.
type place struct {
	client *framework.Client
	path   string
	fault  error // see unusable
	events event.Source
}

func newPlace(c *framework.Client, path string) place {
	fault := framework.ValidatePath(path)
	if path == "/" { // the root always exists, and has children that are no members
		fault = fmt.Errorf("%w: the root is no barrier", zk.ErrInvalidPath)
	}
	return place{client: c, path: path, fault: fault, events: event.Of(c, path)}
}

// unusable returns why the barrier cannot be used, or nil. Every call returns this error.
// The zero value of a barrier has no client.
func (p place) unusable() error {
	if p.client == nil {
		return &framework.ConfigError{Name: "client", Value: "nil", Reason: "must not be nil"}
	}
	return p.fault
}

func (p place) child(name string) string { return znode.Join(p.path, name) }

// identity returns the data of a node, which identifies this process.
func (p place) identity(now time.Time) []byte {
	return identity.Node(identity.Own(framework.Extend(p.client).ServiceName()), now, nil)
}

// errorOf adds the name of the call to the error, unless the error already has it.
func (p place) errorOf(op string, err error) error {
	if _, named := err.(*RaisedError); err == nil || named { //nolint:errorlint // a wrapped error does not name the call
		return err
	}
	return &framework.OpError{Op: op, Path: p.path, Err: err}
}

// waited calls the hooks of a call that is about to return, and returns the call's error.
// The caller waits for the hooks.
func (p place) waited(op string, begun time.Time, err error) error {
	err = p.errorOf(op, err)
	for _, h := range hookWaited.Of(p.client) {
		h.BarrierWaited(Waited{Op: op, Path: p.path, Duration: time.Since(begun), Err: err})
	}
	return err
}

// look is one step of a call. All its requests use one session.
type look func(ctx context.Context, s *framework.Session) error

// ask runs a call that ends with its first successful step.
func (p place) ask(ctx context.Context, op string, look look) error {
	if err := p.unusable(); err != nil {
		return p.errorOf(op, err)
	}
	c := p.call()
	err := c.run(ctx, func(ctx context.Context, s *framework.Session) error { return done(look(ctx, s)) })
	return p.errorOf(op, c.orUnknown(err))
}

// call is the state of one call. Until its context ends, the call survives outages and
// lost sessions, and repeats a write whose reply was lost: every write of this package
// can be repeated without harm. Any other error ends the call.
type call struct {
	follow.Loop
	place
	wrote bool // a write was applied, or may have been applied
}

func (p place) call() *call {
	c := &call{place: p}
	c.Client, c.Ends, c.Awaited = p.client, endsCall, true
	return c
}

// endsCall reports whether an error ends a call.
func endsCall(err error) bool {
	return follow.Judge(err) == follow.Failure && !reason.Is(err, framework.ErrOutcomeUnknown)
}

// run repeats look until it returns follow.ErrDone.
func (c *call) run(ctx context.Context, look look) error {
	c.Look = func(ctx context.Context, s *framework.Session) error {
		err := look(ctx, s)
		c.wrote = c.wrote || reason.Is(err, framework.ErrOutcomeUnknown)
		return err
	}
	return c.Run(ctx)
}

// orUnknown adds framework.ErrOutcomeUnknown to the error of a call if one of the call's
// writes may have been applied.
func (c *call) orUnknown(err error) error {
	if err == nil || !c.wrote || reason.Is(err, framework.ErrOutcomeUnknown) {
		return err
	}
	return fmt.Errorf("%w: %w", framework.ErrOutcomeUnknown, err)
}

// awaitChange waits until a node changes. It returns false without waiting if the node is
// missing, or if wanted returns false for the node.
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

// done ends the loop after a successful step.
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
