package recipes

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/lockloop"
)

// WithSharedLimit keeps a semaphore's limit in a node, in the encoding of Curator's SharedCount, so that it can be changed at
// any time, also while some wait; see SetSharedLimit. Lowering it takes nobody's lease. If the node does not exist, the
// first acquire creates it, with the limit that the semaphore was made with.
func WithSharedLimit(path string) LockOption {
	return func(c *lockConfig) {
		c.sharedLimit = path
		if path == "" { // would be no shared limit, without a word
			c.invalid = "empty path of a shared limit"
		}
	}
}

// limit is how many leases there are.
type limit interface {
	// check says what is wrong with asking for n, as far as that is known without contacting the server.
	check(n int) error

	// look returns the limit, and changes nothing.
	look(ctx context.Context) (int, error)

	// read returns the limit and, if it can change and a watch is asked for, a watch for that. A shared limit that is
	// missing is created.
	read(ctx context.Context, watch bool) (int, *framework.Watch, error)
}

type fixedLimit int

func (l fixedLimit) check(n int) error {
	switch {
	case l < 1:
		return fmt.Errorf("%w: semaphore limit %d, must be at least 1", zk.ErrBadArguments, l)
	case n < 1 || n > int(l):
		return fmt.Errorf("%w: %d leases of %d", zk.ErrBadArguments, n, l)
	}
	return nil
}

func (l fixedLimit) look(context.Context) (int, error) { return int(l), nil }

func (l fixedLimit) read(context.Context, bool) (int, *framework.Watch, error) {
	return int(l), nil, nil
}

// seenLimit is the limit as one acquire sees it.
type seenLimit struct {
	limit limit
	read  bool
	last  int // what was read
}

// fits is the semaphore's lockloop.Fits.
func (l *seenLimit) fits(ctx context.Context, leases int, watch bool) (bool, *framework.Watch, error) {
	n, changed, err := l.limit.read(ctx, watch)
	if err == nil {
		l.read, l.last = true, n
	}
	return leases <= n, changed, err
}

// tooLow reports whether n leases cannot be had, whoever gives back the others.
func (l *seenLimit) tooLow(n int) bool { return l.read && n > l.last }

func (l *seenLimit) refused(leases *lock, r *lockloop.Refusal, n int) error {
	err := leases.notAcquired(r)
	err.Leases, err.Limit = n, l.last
	return err
}

// sharedLimit is a number in a node, as Curator's SharedCount keeps it.
type sharedLimit struct {
	client  *framework.Client
	path    string
	initial int
}

func (l *sharedLimit) check(n int) error {
	switch {
	case l.initial < 0 || l.initial > math.MaxInt32:
		return fmt.Errorf("%w: initial semaphore limit %d, must be from 0 to %d", zk.ErrBadArguments, l.initial, math.MaxInt32)
	case n < 1:
		return fmt.Errorf("%w: %d leases, must be at least 1", zk.ErrBadArguments, n)
	}
	if err := framework.ValidatePath(l.path); err != nil {
		return fmt.Errorf("path of the shared limit %q: %w", l.path, err)
	}
	return nil
}

func (l *sharedLimit) look(ctx context.Context) (int, error) {
	data, _, err := l.get(ctx, false)
	if errors.Is(err, zk.ErrNoNode) {
		return l.initial, nil
	}
	if err != nil {
		return 0, err
	}
	return l.parse(data)
}

func (l *sharedLimit) read(ctx context.Context, watch bool) (int, *framework.Watch, error) {
	for {
		data, changed, err := l.get(ctx, watch)
		if errors.Is(err, zk.ErrNoNode) {
			_, err = l.client.Create(ctx, l.path, sharedCount(l.initial), framework.WithParents())
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

func (l *sharedLimit) parse(data []byte) (int, error) {
	if len(data) != sharedCountSize {
		return 0, &framework.OpError{Op: "read limit", Path: l.path, Err: ErrCorrupted}
	}
	return int(int32(binary.BigEndian.Uint32(data))), nil
}

func (l *sharedLimit) get(ctx context.Context, watch bool) ([]byte, *framework.Watch, error) {
	if !watch {
		data, _, err := l.client.Get(ctx, l.path)
		return data, nil, err
	}
	data, _, changed, err := l.client.GetW(ctx, l.path)
	return data, changed, err
}

const sharedCountSize = 4

func sharedCount(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }

// SetSharedLimit changes the limit of the semaphores that were made with this limitPath, of Java's as well. The node is
// created if it does not exist. With a limit of 0, every acquire waits until it is raised. One that is negative, or
// larger than Java's int, is zk.ErrBadArguments.
func SetSharedLimit(ctx context.Context, c *framework.Client, limitPath string, n int) error {
	if c == nil {
		return &framework.OpError{Op: "set limit", Path: limitPath, Err: isNil("client")}
	}
	if n < 0 || n > math.MaxInt32 {
		err := fmt.Errorf("%w: semaphore limit %d, must be from 0 to %d", zk.ErrBadArguments, n, math.MaxInt32)
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
