package locks

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/queue"
)

// SemaphoreLimit is how many leases of a semaphore can be held at once: a fixed
// Limit, or a SharedLimit.
type SemaphoreLimit struct{ limit }

// Limit returns a limit of n leases. Every process must use the same limit:
// nobody checks. A limit below 1 is an error of every acquire.
func Limit(n int) SemaphoreLimit { return SemaphoreLimit{fixedLimit(n)} }

// SharedLimit returns a limit that all processes share. It is kept in the node
// with this path, in the encoding of Curator's SharedCount, and can be changed
// at any time, also while some wait; see SetSharedLimit. A lower limit takes
// nobody's lease. If the node does not exist, the first acquire creates it
// with the initial limit. A path that cannot be used, or an initial limit
// below 0, is an error of every acquire.
func SharedLimit(path string, initial int) SemaphoreLimit {
	return SemaphoreLimit{&sharedLimit{path, initial}}
}

type limit interface {
	// check says what is wrong with asking for n leases, as far as that is
	// known without contacting the server.
	check(n int) error

	// look returns the limit, and changes nothing.
	look(ctx context.Context, c *framework.Client) (int, error)

	// read returns the limit and, if it can change and a watch is asked for, a
	// watch for that. It creates a shared limit that is missing.
	read(ctx context.Context, c *framework.Client, watch bool) (int, *framework.Watch, error)
}

type fixedLimit int

func (l fixedLimit) check(n int) error {
	switch {
	case l < 1:
		return queue.Invalid("semaphore limit", fmt.Sprint(int(l)), "must be at least 1")
	case n < 1 || n > int(l):
		return queue.Invalid("number of leases", fmt.Sprint(n), fmt.Sprintf("must be from 1 to the limit of %d", l))
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
		return queue.Invalid("initial semaphore limit", fmt.Sprint(l.initial), fmt.Sprintf("must be from 0 to %d", math.MaxInt32))
	case n < 1:
		return queue.Invalid("number of leases", fmt.Sprint(n), "must be at least 1")
	}
	if l.path == "" {
		return queue.Invalid("path of the shared limit", "", "must not be empty")
	}
	if err := framework.ValidatePath(l.path); err != nil {
		return fmt.Errorf("path of the shared limit %q: %w", l.path, err)
	}
	return nil
}

func (l *sharedLimit) look(ctx context.Context, c *framework.Client) (int, error) {
	data, _, err := c.Get(ctx, l.path)
	if errors.Is(err, zk.ErrNoNode) {
		return l.initial, nil
	}
	if err != nil {
		return 0, err
	}
	return l.parse(data)
}

func (l *sharedLimit) read(ctx context.Context, c *framework.Client, watch bool) (int, *framework.Watch, error) {
	for {
		data, changed, err := l.get(ctx, c, watch)
		if errors.Is(err, zk.ErrNoNode) {
			_, err = c.Create(ctx, l.path, sharedCount(l.initial), framework.WithParents())
			if err == nil || errors.Is(err, zk.ErrNodeExists) {
				continue
			}
		}
		if err != nil {
			return 0, nil, err
		}
		n, err := l.parse(data)
		if err != nil && changed != nil {
			changed.Stop()
			changed = nil
		}
		return n, changed, err
	}
}

func (l *sharedLimit) get(ctx context.Context, c *framework.Client, watch bool) ([]byte, *framework.Watch, error) {
	if !watch {
		data, _, err := c.Get(ctx, l.path)
		return data, nil, err
	}
	data, _, changed, err := c.GetW(ctx, l.path)
	return data, changed, err
}

func (l *sharedLimit) parse(data []byte) (int, error) {
	if len(data) != sharedCountSize {
		return 0, &framework.OpError{Op: "read limit", Path: l.path, Err: ErrCorrupted}
	}
	return int(int32(binary.BigEndian.Uint32(data))), nil
}

const sharedCountSize = 4

func sharedCount(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }

// SetSharedLimit changes the limit of the semaphores that were made with this
// limitPath, of Java's as well. It creates the node if it does not exist. With
// a limit of 0, every acquire waits until it is raised. A limit that is
// negative, or larger than Java's int, is zk.ErrBadArguments.
func SetSharedLimit(ctx context.Context, c *framework.Client, limitPath string, n int) error {
	if c == nil {
		return &framework.OpError{Op: "set limit", Path: limitPath, Err: queue.IsNil("client")}
	}
	if err := framework.ValidatePath(limitPath); err != nil {
		return &framework.OpError{Op: "set limit", Path: limitPath, Err: err}
	}
	if n < 0 || n > math.MaxInt32 {
		err := queue.Invalid("semaphore limit", fmt.Sprint(n), fmt.Sprintf("must be from 0 to %d", math.MaxInt32))
		return &framework.OpError{Op: "set limit", Path: limitPath, Err: err}
	}
	for {
		_, err := c.Set(ctx, limitPath, sharedCount(n), framework.AnyVersion)
		if !errors.Is(err, zk.ErrNoNode) {
			return err
		}
		_, err = c.Create(ctx, limitPath, sharedCount(n), framework.WithParents())
		if !errors.Is(err, zk.ErrNodeExists) {
			return err
		}
	}
}
