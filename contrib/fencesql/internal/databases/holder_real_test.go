//go:build real

package databases

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/gocurator/curator/contrib/fencesql"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// lockPath is the path of the lock that guards the database.
const lockPath = "/lock"

// What a holder does before its write is sent.
const (
	stops   = "stops"    // it stops itself, and goes on when it is told to
	goesOn  = "goes on"  // it does nothing
	refused = "refused"  // what it says of a write that the database refuses
	written = "written"  // what it says of a write that has no error
	aborted = "aborted"  // what it says of a transaction whose snapshot Postgres finds too old
	failed  = "failed: " // what it says of any other error
)

// hold writes under the lock for each line of standard input, which names a way and
// what to do before the write. The process ends with that input.
func hold(servers string, k kind, dsn string) error {
	w := openWorld(k, dsn)
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		name, before, _ := strings.Cut(in.Text(), ": ")
		stall := func() {
			if before == stops {
				before = goesOn
				_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
				in.Scan() // another thread may have taken the signal, a moment later
			}
		}
		if err := holdOnce(servers, w, wayOf(name), stall); err != nil {
			return err
		}
	}
	return in.Err()
}

// holdOnce has its own session, because a client whose session was lost waits a while
// before it begins the next one.
func holdOnce(servers string, w world, way way, stall func()) error {
	ctx := context.Background()
	client, err := framework.Connect(ctx, servers, framework.WithSessionTimeout(sessionTimeout))
	if err != nil {
		return err
	}
	defer client.Close()
	held, err := locks.NewInterProcessMutex(client, lockPath).Acquire(ctx)
	if err != nil {
		return err
	}
	fmt.Println(client.SessionID(), held.FencingToken())
	fmt.Println(outcome(way.write(ctx, w, lease{held, stall})))
	return nil
}

func wayOf(name string) way {
	for _, w := range append(fenced[:len(fenced):len(fenced)], unfenced...) {
		if w.name == name {
			return w
		}
	}
	panic(name)
}

func outcome(err error) string {
	switch {
	case err == nil:
		return written
	case errors.Is(err, fencesql.ErrStale):
		return refused
	case strings.Contains(err.Error(), "could not serialize access"):
		return aborted
	default:
		return failed + strings.ReplaceAll(err.Error(), "\n", " ")
	}
}

// sessionTimeout is longer than any machine is busy. A test that takes a session away
// does not wait for its end.
const sessionTimeout = 40 * time.Second
