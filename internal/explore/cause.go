package explore

import (
	"context"
	"io"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
)

// anyReason is a cause that matches every error which is an answer to somebody.
// A library that asks an error what it is, and not where it comes from, takes it
// for one.
type anyReason struct{}

var anything error = anyReason{}

func (anyReason) Error() string { return "the search has ended it for any reason" }

func (anyReason) Unwrap() []error {
	return []error{
		zk.ErrNoNode, zk.ErrNodeExists, zk.ErrBadVersion, zk.ErrNotEmpty, zk.ErrNoAuth,
		zk.ErrConnectionClosed, zk.ErrSessionExpired, zk.ErrNoServer, zk.ErrClosing,
		framework.ErrSessionLost, framework.ErrNotConnected, framework.ErrClosed, framework.ErrOutcomeUnknown,
		io.EOF, context.DeadlineExceeded,
	}
}
