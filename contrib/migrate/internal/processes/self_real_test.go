//go:build real

package processes

import (
	"bufio"
	"context"
	"fmt"
	"iter"
	"os"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/state"
)

// path is the path of the lock.
const path = "/migrations/orders"

// What the test says to a replica that waits.
const (
	atOnce   = "at once"
	whenLost = "when the session is lost"
)

// sessionTimeout is longer than any machine is busy. A test that takes a session
// away does not wait for its end.
const sessionTimeout = 40 * time.Second

// self is a replica as it sees itself.
type self struct {
	client *framework.Client
	store
	args  []string
	lines <-chan string
	lost  <-chan struct{}
}

// replica does the work of a process that the test has started.
func replica(servers string, work func(context.Context, *self) error, args []string) error {
	ctx := context.Background()
	client, err := framework.Connect(ctx, servers, framework.WithSessionTimeout(sessionTimeout))
	if err != nil {
		return err
	}
	defer client.Close()
	s := &self{
		client: client, store: store{kind: args[0], dsn: args[1]}, args: args[2:],
		lines: input(), lost: untilLost(client.States(ctx)),
	}
	s.tell("session %d", client.SessionID())
	return work(ctx, s)
}

// input returns the lines of standard input. The process ends with them: its
// parent is gone.
func input() <-chan string {
	lines := make(chan string)
	go func() {
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			lines <- in.Text()
		}
		os.Exit(1)
	}()
	return lines
}

// untilLost returns a channel that is closed when the session is lost.
func untilLost(states iter.Seq[state.State]) <-chan struct{} {
	lost := make(chan struct{})
	go func() {
		for now := range states {
			if now == state.Lost {
				close(lost)
				return
			}
		}
	}()
	return lost
}

// tell tells the test something.
func (s *self) tell(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// wait waits until the test lets the replica go on.
func (s *self) wait() {
	if <-s.lines == whenLost {
		<-s.lost
	}
}
