package locks

import (
	"context"
	"fmt"
	"math"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/codec"
	"github.com/gocurator/curator/recipes/internal/seat"
	"github.com/gocurator/curator/recipes/internal/sharednode"
)

// SemaphoreLimit is how many leases of a semaphore can be held at once: a fixed Limit, or
// a SharedLimit.
type SemaphoreLimit struct{ limit }

// Limit returns a limit of n leases. Every process must use the same limit, which is not
// checked. If the limit is below 1, every acquire returns an error.
func Limit(n int) SemaphoreLimit { return SemaphoreLimit{fixedLimit(n)} }

// SharedLimit returns a limit that all processes share. It is the shared.Count with this
// path, Curator's SharedCount. SetSharedLimit or a Count can change it at any time, even
// while acquires wait. Lowering the limit does not end any lease. If the node does not
// exist, the first acquire creates it with the initial limit. If the path is invalid or
// the initial limit is below 0, every acquire returns an error.
func SharedLimit(path string, initial int) SemaphoreLimit {
	return SemaphoreLimit{&sharedLimit{path, initial}}
}

type limit interface {
	// check returns the error of asking for n leases, if it is known without contacting
	// the server.
	check(n int) error

	// look returns the limit without changing anything.
	look(ctx context.Context, c *framework.Client) (int, error)

	// read returns the limit. If the limit can change and watch is true, it also returns
	// a watch for a change. It creates a shared limit that is missing.
	read(ctx context.Context, c *framework.Client, watch bool) (int, *framework.Watch, error)
}

type fixedLimit int

func (l fixedLimit) check(n int) error {
	switch {
	case l < 1:
		return seat.Invalid("semaphore limit", fmt.Sprint(int(l)), "must be at least 1")
	case n < 1 || n > int(l):
		return seat.Invalid("number of leases", fmt.Sprint(n), fmt.Sprintf("must be from 1 to the limit of %d", l))
	}
	return nil
}

func (l fixedLimit) look(context.Context, *framework.Client) (int, error) { return int(l), nil }

func (l fixedLimit) read(context.Context, *framework.Client, bool) (int, *framework.Watch, error) {
	return int(l), nil, nil
}

// sharedLimit is a number in a node, as Curator's SharedCount keeps it.
type sharedLimit struct {
	path    string
	initial int
}

func (l *sharedLimit) check(n int) error {
	switch {
	case l.initial < 0 || l.initial > math.MaxInt32:
		return seat.Invalid("initial semaphore limit", fmt.Sprint(l.initial),
			fmt.Sprintf("must be from 0 to %d", math.MaxInt32))
	case n < 1:
		return seat.Invalid("number of leases", fmt.Sprint(n), "must be at least 1")
	}
	if l.path == "" {
		return seat.Invalid("path of the shared limit", "", "must not be empty")
	}
	if err := framework.ValidatePath(l.path); err != nil {
		return fmt.Errorf("path of the shared limit %q: %w", l.path, err)
	}
	return nil
}

func (l *sharedLimit) node(c *framework.Client) sharednode.Node {
	return sharednode.Node{Client: c, Path: l.path}
}

func (l *sharedLimit) look(ctx context.Context, c *framework.Client) (int, error) {
	s, err := l.node(c).Read(ctx)
	if err != nil {
		return 0, err
	}
	if !s.Exists {
		return l.initial, nil
	}
	return l.parse(s.Data)
}

func (l *sharedLimit) read(ctx context.Context, c *framework.Client, watch bool) (int, *framework.Watch, error) {
	seed, err := codec.Int32().Encode(int32(l.initial))
	if err != nil {
		return 0, nil, err
	}
	s, changed, err := l.node(c).ReadSeeded(ctx, seed, watch)
	if err != nil {
		return 0, nil, err
	}
	n, err := l.parse(s.Data)
	if err != nil && changed != nil {
		changed.Stop()
		changed = nil
	}
	return n, changed, err
}

func (l *sharedLimit) parse(data []byte) (int, error) {
	n, err := codec.Int32().Decode(data)
	if err != nil {
		return 0, &framework.OpError{Op: "read limit", Path: l.path, Err: fmt.Errorf("%w: %w", ErrCorrupted, err)}
	}
	return int(n), nil
}

// SetSharedLimit changes the limit of all semaphores with this limitPath, including
// semaphores in Java. If the node does not exist, SetSharedLimit creates it. With a limit
// of 0, every acquire waits until the limit is raised. If the limit is negative or larger
// than Java's int, the error matches zk.ErrBadArguments.
//
// SetSharedLimit reads the node and then writes it, as a shared.Count does. If the reply
// is lost, it re-reads the node, and writes again unless another client has written
// meanwhile. If the error matches framework.ErrOutcomeUnknown, the limit may have been
// changed.
func SetSharedLimit(ctx context.Context, c *framework.Client, limitPath string, n int) error {
	if err := setSharedLimit(ctx, c, limitPath, n); err != nil {
		return &framework.OpError{Op: "set shared limit", Path: limitPath, Err: err}
	}
	return nil
}

func setSharedLimit(ctx context.Context, c *framework.Client, limitPath string, n int) error {
	if c == nil {
		return seat.IsNil("client")
	}
	if err := framework.ValidatePath(limitPath); err != nil {
		return err
	}
	if n < 0 || n > math.MaxInt32 {
		return seat.Invalid("semaphore limit", fmt.Sprint(n), fmt.Sprintf("must be from 0 to %d", math.MaxInt32))
	}
	data, err := codec.Int32().Encode(int32(n))
	if err != nil {
		return err
	}
	node := sharednode.Node{Client: c, Path: limitPath}
	known, err := node.Read(ctx)
	if err != nil {
		return err
	}
	_, err = node.Set(ctx, known, data)
	return err
}
