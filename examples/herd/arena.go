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

// arena is where one experiment takes place.
type arena struct {
	servers string
	dial    framework.DialFunc
	root    string
	close   func()

	// rest returns when everything that a change leads to has happened and these clients wait again.
	rest func(ctx context.Context, t *traffic, waiting []*client) error
}

func newArena(cfg config) (arena, error) {
	if cfg.servers == "" {
		return embedded()
	}
	return arena{
		servers: cfg.servers,
		dial:    (&net.Dialer{}).DialContext,
		root:    path.Join("/herd", rand.Text()),
		close:   func() {},
		rest: func(ctx context.Context, t *traffic, _ []*client) error {
			return t.waitSilent(ctx, silence)
		},
	}, nil
}

// silence is how long a real ensemble must have been silent to be taken to be at rest: there is no better way to know. It
// is short enough for no lock to be held for a second, from when on an InterProcessMutex watches its own node.
const silence = 300 * time.Millisecond

// afterWatch is how long the embedded server must have been silent once all
// clients wait: a client that has set its watch may still read the node of the
// lock's holder, and the server does not know that it will.
const afterWatch = 20 * time.Millisecond

// embedded returns an arena with a server of its own. That one can be asked who waits, and what it has sent.
func embedded() (arena, error) {
	srv, err := zktest.NewServer()
	if err != nil {
		return arena{}, err
	}
	return arena{
		servers: srv.Addr(),
		dial:    srv.Dialer(),
		root:    "/herd",
		close:   func() { srv.Close() },
		rest: func(ctx context.Context, t *traffic, waiting []*client) error {
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

// allWait reports whether all of these clients have a watch at the same time. A client that is about to look again, or
// has not yet queued, has none.
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
