package follow_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/exampletest"
	"github.com/gocurator/curator/recipes/internal/follow"
)

// Number is a whole recipe: it knows the number that a node has, until it is closed.
// Number survives outages, losses of the session and errors of servers.
type Number struct {
	life follow.Life
	loop follow.Loop
	now  atomic.Int64
}

var errNumberClosed = errors.New("number is closed")

func NewNumber(c *framework.Client, path string) (*Number, error) {
	n := &Number{loop: follow.Loop{Recovery: follow.Recovery{Client: c}}}
	n.loop.Look = func(ctx context.Context, _ *framework.Session) error {
		data, _, watch, err := c.GetW(ctx, path)
		if err != nil {
			return err
		}
		defer watch.Stop()
		n.loop.Recovered()
		if now, err := strconv.ParseInt(string(data), 10, 64); err == nil {
			n.now.Store(now)
			n.life.Tell()
		}
		_, err = watch.Wait(ctx)
		return err
	}
	n.life = follow.Life{Client: c, Closed: errNumberClosed, Run: n.loop.Run, GaveUp: n.loop.GaveUp}
	return n, n.life.Start()
}

func (n *Number) Close()                { n.life.Close() }
func (n *Number) Done() <-chan struct{} { return n.life.Gone() }
func (n *Number) Err() error            { return n.life.Err() }

func (n *Number) WaitFor(ctx context.Context, least int64) error {
	return n.life.Wait(ctx, func() bool { return n.now.Load() >= least })
}

func ExampleLife() {
	client, srv, done := exampletest.Connect()
	defer done()
	srv.Create("/limit", []byte("1"))
	limit, err := NewNumber(client, "/limit")
	fmt.Println(err, limit.WaitFor(context.Background(), 1))
	srv.Session(client.SessionID()).Expire() // it goes on in the next session
	srv.Set("/limit", []byte("2"))
	fmt.Println(limit.WaitFor(context.Background(), 2), limit.Err())
	limit.Close()
	fmt.Println(limit.WaitFor(context.Background(), 3))
	// Output:
	// <nil> <nil>
	// <nil> <nil>
	// number is closed
}
