package barriers

import (
	"context"
	"fmt"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/znode"
	"github.com/gocurator/curator/recipes/internal/event"
	"github.com/gocurator/curator/recipes/internal/follow"
	"github.com/gocurator/curator/recipes/internal/identity"
)

// place is what all calls of a barrier know of it: its node.
type place struct {
	client *framework.Client
	path   string
	fault  error // see unusable
	events event.Source
}

func newPlace(c *framework.Client, path string) place {
	return place{client: c, path: path, fault: framework.ValidatePath(path), events: event.Of(c, path)}
}

// unusable returns why the barrier cannot be used, which every call returns, or
// nil. The zero value has no client.
func (p place) unusable() error {
	if p.client == nil {
		return isNil("client")
	}
	return p.fault
}

func (p place) child(name string) string { return znode.Join(p.path, name) }

// identity is the data of a node that says who has made it.
func (p place) identity(now time.Time) []byte {
	return identity.Node(identity.Own(framework.Extend(p.client).ServiceName()), now, nil)
}

// look is a part of a call: all of its requests are of one session.
type look func(ctx context.Context, s *framework.Session) error

// inStep returns a look that has seen all that was complete before the call: it
// asks the server to catch up first.
func (p place) inStep(look look) look {
	return func(ctx context.Context, s *framework.Session) error {
		if err := p.client.Sync(ctx, p.path); err != nil {
			return err
		}
		return look(ctx, s)
	}
}

// create creates an ephemeral node of a session, to which ctx is pinned. After a
// lost reply, a node that is there and that the session owns is the created one: no
// two callers of one client create the same, or it does not matter whose it is.
func (p place) create(
	ctx context.Context, s *framework.Session, path string, data []byte, opts ...framework.CreateOption,
) (made framework.Created, err error) {
	opts = append(opts, framework.WithMode(framework.Ephemeral))
	err = follow.Resolve(ctx, p.client, func(ctx context.Context) (err error) {
		made, err = p.client.Create(ctx, path, data, opts...)
		return err
	}, func(ctx context.Context) (follow.Fate, error) {
		there, stat, err := p.client.Exists(ctx, path)
		switch {
		case err != nil || there && stat.EphemeralOwner != s.ID():
			return follow.Unknown, err
		case !there:
			return follow.NotApplied, nil // or another client has deleted it since
		}
		made = framework.Created{Path: path, Czxid: stat.Czxid, Session: s}
		return follow.Applied, nil
	})
	return made, err
}

// ask makes a call that is over with its first look that succeeds.
func (p place) ask(ctx context.Context, op string, look look) error {
	var c call
	err := p.unusable()
	if err == nil {
		err = c.run(ctx, p.client, func(ctx context.Context, s *framework.Session) error { return done(look(ctx, s)) })
	}
	return p.errorOf(op, c.orUnknown(err))
}

// call is a call that is under way. It goes on until its context ends, through
// outages and losses of the session, and repeats a write that may have been
// carried out. Its caller is told of all else.
type call struct {
	follow.Loop
	wrote bool // a write was carried out, or may have been
}

// run looks again and again, until a look returns follow.ErrDone.
func (c *call) run(ctx context.Context, client *framework.Client, look look) error {
	c.Client, c.Ends, c.Awaited = client, endsCall, true
	c.Look = func(ctx context.Context, s *framework.Session) error {
		err := look(ctx, s)
		c.wrote = c.wrote || reason.Is(err, framework.ErrOutcomeUnknown)
		return err
	}
	err := c.Run(ctx)
	if reason.IsOfContext(ctx, err) {
		return c.GaveUp(ctx)
	}
	return err
}

// endsCall is the Ends of a call.
func endsCall(err error) bool {
	return follow.Judge(err) == follow.Trouble && !reason.Is(err, framework.ErrOutcomeUnknown)
}

// orUnknown returns the error of a call, which says if a write may have been
// carried out.
func (c *call) orUnknown(err error) error {
	if err == nil || !c.wrote || reason.Is(err, framework.ErrOutcomeUnknown) {
		return err
	}
	return fmt.Errorf("%w: %w", framework.ErrOutcomeUnknown, err)
}

// done makes the success of a look the end of the loop.
func done(err error) error {
	if err == nil {
		return follow.ErrDone
	}
	return err
}

// errorOf names the call whose error it is, unless that names it.
func (p place) errorOf(op string, err error) error {
	if _, named := err.(*RaisedError); err == nil || named { //nolint:errorlint // one that is wrapped does not name the call
		return err
	}
	return &framework.OpError{Op: op, Path: p.path, Err: err}
}
