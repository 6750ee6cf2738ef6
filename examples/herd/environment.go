package main

import (
	"context"
	"crypto/rand"
	"net"
	"path"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// environment is the server and the path that one experiment uses.
type environment struct {
	servers string
	dial    framework.DialFunc
	root    string
	close   func()

	// waitIdle waits until every effect of a change has happened and the given
	// clients wait again.
	waitIdle func(ctx context.Context, t *traffic, waiting []*client) error
}

func newEnvironment(cfg config) (environment, error) {
	if cfg.servers == "" {
		return embedded()
	}
	return environment{
		servers: cfg.servers,
		dial:    (&net.Dialer{}).DialContext,
		root:    path.Join("/herd", rand.Text()),
		close:   func() {},
		waitIdle: func(ctx context.Context, t *traffic, _ []*client) error {
			return t.waitSilent(ctx, silence)
		},
	}, nil
}

// hint returns the probable reason why a client has no session although many clients
// have one. A real server silently closes connections above its limit.
func (a environment) hint(others int) string {
	if a.servers == "" || others == 0 {
		return ""
	}
	return " (does the server take so many connections from one address? See its maxClientCnxns)"
}

// silence is how long a real ensemble must be silent to count as idle. A real
// ensemble offers no better sign. The time is short enough that no lock is held
// for a second. From then on an InterProcessMutex would watch its own node.
const silence = 300 * time.Millisecond

// afterWatch is how long the embedded server must be silent once all clients
// wait. A client that has set its watch may still read the node of the lock's
// holder, and the server does not know about that in advance.
const afterWatch = 20 * time.Millisecond

// embedded returns an environment with its own server, which knows the watches of
// the clients and counts what it sends.
func embedded() (environment, error) {
	srv, err := zktest.Run()
	if err != nil {
		return environment{}, err
	}
	return environment{
		servers: srv.Addr(),
		dial:    srv.Dialer(),
		root:    "/herd",
		close:   func() { srv.Close() },
		waitIdle: func(ctx context.Context, t *traffic, waiting []*client) error {
			if err := srv.WaitFor(ctx, func() bool { return allWait(srv, waiting) }); err != nil {
				return err
			}
			err := t.waitUntil(ctx, func(total counts, replies int) bool {
				return replies == total.requests && total.events == srv.Stats().Notifications
			})
			if err != nil {
				return err
			}
			return t.waitSilent(ctx, afterWatch)
		},
	}, nil
}

// allWait reports whether all clients have a watch at the same time. A client has no
// watch before it has queued, and while it is about to read the queue again.
func allWait(srv *zktest.Server, waiting []*client) bool {
	watching := map[int64]bool{}
	for _, w := range srv.Watches() {
		watching[w.Session] = true
	}
	for _, c := range waiting {
		if !watching[c.zk.SessionID()] {
			return false
		}
	}
	return true
}
