package explore

import (
	"context"
	"io"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
)

// anyReason is a cause that matches every error of a server's answer. A library that
// checks what an error is, and not where the error comes from, takes anyReason for an
// answer.
type anyReason struct{}

var anything error = anyReason{}

func (anyReason) Error() string { return "the search has ended the context for any reason" }

func (anyReason) Unwrap() []error {
	return []error{
		zk.ErrNoNode, zk.ErrNodeExists, zk.ErrBadVersion, zk.ErrNotEmpty, zk.ErrNoAuth,
		zk.ErrConnectionClosed, zk.ErrSessionExpired, zk.ErrNoServer, zk.ErrClosing,
		framework.ErrSessionLost, framework.ErrNotConnected, framework.ErrClosed, framework.ErrOutcomeUnknown,
		io.EOF, context.DeadlineExceeded,
	}
}
