package follow_test

import (
	"context"
	"fmt"
	"iter"
	"strconv"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/exampletest"
	"github.com/gocurator/curator/recipes/internal/follow"
)

// Numbers is a whole recipe: it follows a node whose data is a number. Numbers survives
// outages, losses of the session and errors of servers. An error that waiting does not
// cure is the last element.
func Numbers(ctx context.Context, c *framework.Client, path string) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		l := follow.Loop{Recovery: follow.Recovery{Client: c}}
		l.Look = func(ctx context.Context, _ *framework.Session) error {
			data, _, watch, err := c.GetW(ctx, path)
			if err != nil {
				return err
			}
			defer watch.Stop()
			l.Recovered()
			if n, err := strconv.Atoi(string(data)); err == nil && !yield(n, nil) {
				return follow.ErrDone
			}
			_, err = watch.Wait(ctx)
			return err
		}
		if err := l.Run(ctx); err != nil && ctx.Err() == nil {
			yield(0, &framework.OpError{Op: "numbers", Path: path, Err: err})
		}
	}
}

func Example() {
	client, srv, done := exampletest.Connect()
	defer done()
	srv.Create("/limit", []byte("1"))
	for n, err := range Numbers(context.Background(), client, "/limit") {
		fmt.Println(n, err)
		if n == 3 {
			break
		}
		srv.Session(client.SessionID()).Expire() // it goes on in the next session
		srv.Set("/limit", []byte(strconv.Itoa(n+1)))
	}
	// Output:
	// 1 <nil>
	// 2 <nil>
	// 3 <nil>
}
