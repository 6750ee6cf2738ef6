package fence

import (
	"context"
	"fmt"
	"path"

	"github.com/gocurator/curator/internal/printable"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/token"
)

// Lease is the part of a held lock that a resource needs. A *locks.Lease is a Lease.
type Lease interface {
	// Context ends when the lock is no longer held.
	Context() context.Context

	// FencingToken returns a number that grows from holder to holder.
	FencingToken() int64

	// Path returns the path of the holder's node, which names the holder in errors. The
	// node is a child of the lock's path.
	Path() string
}

// Store keeps the largest token of each resource. *Guard is a Store in memory, package
// fencezk has a Store in ZooKeeper, and module contrib/fencesql has a Store in SQL
// databases.
type Store interface {
	// Raise compares the lease's token with the resource's largest token, and raises
	// the latter, in one atomic step. Raise admits an equal token. For a smaller token,
	// the error matches ErrStale, and is a *StaleError if the newest token is known.
	// After any other error, the token may have been raised.
	//
	// No release, deletion or timeout makes the token of a resource smaller.
	Raise(ctx context.Context, resource string, lease Lease) error
}

// FromContext returns the innermost lease of ctx: the lease of a lock or a leadership
// of this process, or the lease of the caller whose request Incoming has admitted. For
// a locks.InterProcessMultiLock, FromContext returns the lease of the last lock, whose
// token is the multi-lock's token. The context of a caller's lease ends with the request.
func FromContext(ctx context.Context) (Lease, bool) {
	lease, ok := ctx.Value(token.Key{}).(Lease)
	return lease, ok
}

// Outgoing returns the header for a request under ctx: the fencing token of the lease
// from FromContext, a space, and the path of the lease's node, escaped as in a URL.
// Without a lease, the header is empty, and the request must be sent without it. If the
// lease has ended, Outgoing returns an error with the reason.
func Outgoing(ctx context.Context) (header string, err error) {
	lease, ok := FromContext(ctx)
	if !ok {
		return "", nil
	}
	if held := lease.Context(); held.Err() != nil {
		return "", fmt.Errorf("fence: the lease of %s has ended: %w", lease.Path(), reason.Foreign(context.Cause(held)))
	}
	return token.Text(lease.FencingToken(), lease.Path()), nil
}

// Incoming admits a request to a resource that a lock guards. The headers are the
// request's headers from Outgoing. The resource's name in the store is the path of the
// lock, as the holders' clients see it: without their namespace and chroot. A
// locks.InterProcessSemaphoreMutex has its holders one level lower: its lock is the path
// followed by /leases.
//
// Incoming returns a copy of ctx in which FromContext finds the caller's lease, or an
// error that says why the request was not admitted; see Reason.
//
// # What is not fenced
//
// After a request with a larger token, no request with a smaller one is admitted. But a
// request that was admitted before may still be running, and its later writes may follow
// the writes of the next holder. The end of the lease does not stop that request, which
// runs in another process. Only a check in the write itself closes this window:
//
//   - For a SQL database, pass the lease from FromContext to Within, Exec, Update or
//     Upsert of module contrib/fencesql.
//   - For data in memory, write within Guard.Do, with the lease's FencingToken.
//   - For data in the ensemble of the lock, add a framework.CheckOp of the lease's Path
//     and of AnyVersion to the transaction, in the namespace of the holder's client.
//   - For another service, call it with the context of the request. Package fencehttp and
//     module contrib/fencegrpc forward the token.
//
// Incoming remains useful: it refuses early, before effects that no database fences.
//
// These are further limits:
//
//   - A new holder fences with its first request. Until then, requests of the former
//     holder are admitted.
//   - Leases with the same token are not fenced from each other; see
//     locks.Lease.FencingToken. Do not fence by the lease of a semaphore.
//   - Fencing is not authentication. A malicious client can send any token, and a very
//     large token locks out all other clients. Authenticate clients before the check.
//   - The server cannot distinguish two locks with the same path in two ensembles, or in
//     two namespaces of an ensemble. Give the locks different paths, or different stores.
func Incoming(ctx context.Context, store Store, lock string, headers []string) (context.Context, error) {
	if len(headers) == 0 {
		return nil, &refusal{missing, "no fencing token of the lock " + lock}
	}
	if len(headers) > 1 {
		return nil, &refusal{malformed, fmt.Sprintf("%d fencing tokens", len(headers))}
	}
	number, owner, err := token.Parse(headers[0])
	if err != nil {
		return nil, &refusal{malformed, "fencing token: " + err.Error()}
	}
	if path.Dir(owner) != lock {
		return nil, &refusal{otherLock,
			fmt.Sprintf("fencing token of %s, which does not hold the lock %s", printable.String(owner), lock)}
	}
	lease := &received{token: number, path: owner}
	lease.ctx = context.WithValue(ctx, token.Key{}, lease) // a request under lease.Context() forwards the token
	if err := store.Raise(ctx, lock, lease); err != nil {
		return nil, err
	}
	return lease.ctx, nil
}

// received is the lease of a request's sender.
type received struct {
	ctx   context.Context
	token int64
	path  string
}

func (r *received) Context() context.Context { return r.ctx }
func (r *received) FencingToken() int64      { return r.token }
func (r *received) Path() string             { return r.path }

// These are the reasons for which a request is refused.
const (
	stale     = "stale"
	otherLock = "other_lock"
	missing   = "missing"
	malformed = "malformed"
)

// refusal is the error of a request that was refused before the store was asked.
type refusal struct{ reason, text string }

func (r *refusal) Error() string { return r.text }

// Reason returns why Incoming has refused a request, as one word for programs:
//
//   - "stale": a larger token was seen before. The error matches ErrStale.
//   - "other_lock": the token belongs to a lock that does not guard the resource.
//   - "missing": the request has no token.
//   - "malformed": the header does not have the form of Outgoing, or there are several
//     headers.
//
// For any other error, such as the store's, it returns "".
func Reason(err error) string {
	var r *refusal
	switch {
	case reason.As(err, &r):
		return r.reason
	case reason.Is(err, ErrStale):
		return stale
	}
	return ""
}
