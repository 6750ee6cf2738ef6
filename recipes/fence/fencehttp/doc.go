// Package fencehttp has HTTP services refuse the requests of a process that has lost its
// lock and does not know it.
//
// The client's requests carry the fencing token of the lease that their context is
// under. No caller names the token:
//
//	client := &http.Client{Transport: fencehttp.Transport(nil)}
//
//	request, err := http.NewRequestWithContext(lease.Context(), http.MethodPost, url, body)
//	response, err := client.Do(request)
//
// The server compares the token with the largest one that it has seen:
//
//	mux.Handle("POST /accounts/{id}", fencehttp.Handler(store, func(r *http.Request) string {
//		return "/locks/accounts/" + r.PathValue("id") // the lock that guards the resource
//	}, accounts))
//
// Package fence has what this package and module contrib/fencegrpc share.
//
// # The header
//
// The header Fencing-Token has the token, a space, and the path of the holder's node,
// escaped as in a URL, with a comma escaped, too. The path names the holder, and its parent
// is the lock; see fence.Incoming for a locks.InterProcessSemaphoreMutex:
//
//	Fencing-Token: 4294967299 /locks/accounts/7/_c_4f5e-lock-0000000012
//
// A holder in another language sends the czxid of its own node, and its path.
//
// # The answers
//
//	reason        status
//	"stale"       409 Conflict               a larger token was seen before
//	"other_lock"  409 Conflict               the token is of another lock
//	"missing"     428 Precondition Required  the request has no token
//	"malformed"   400 Bad Request            the header is not as above, or there are several
//	""            503 Service Unavailable    the store has failed
//
// The body is application/problem+json, by RFC 9457. It has the usual members status,
// title and detail, and also reason, and lock, which is the path of the lock that guards
// the resource. If the token is stale, token and owner are those of the request, and
// newestToken and newestOwner are the largest token that was seen and its holder. Tokens
// are strings, because they may have 64 bits. [ErrorOf] reads the body.
//
// The error of a store may contain secrets, so the body leaves it out. Wrap the
// [fence.Store] to log its errors.
//
// # What is not fenced
//
// The check comes before the handler runs. After a request with a larger token was
// admitted, no request with a smaller one is. But a request that was admitted before may
// still be at work, however long its handler takes. What it writes from then on lands
// after the writes of the next holder. Neither the lease nor its end stops that handler:
// it is in another process.
//
// Only a check in the write itself closes this window. The handler has the caller's
// lease:
//
//	lease, _ := fence.FromContext(r.Context())
//
// What to do with that depends on the resource:
//
//   - For a SQL database, pass the lease to Within, Exec, Update or Upsert of module
//     contrib/fencesql.
//   - For data in memory, write within fence.Guard.Do, with the lease's FencingToken.
//   - For data in the ensemble of the lock, add a framework.CheckOp of the lease's Path
//     and of AnyVersion to the transaction, in the namespace of the holder's client.
//   - For another service, call it with the context of the request. Transport forwards
//     the token.
//
// The check at the entrance remains useful then: it refuses early, and before effects
// that no database fences.
//
// Also:
//
//   - A new holder fences with its first request. Before, requests of the former holder
//     are admitted.
//   - Leases with the same token are not fenced from each other; see
//     locks.Lease.FencingToken. Do not fence by the lease of a semaphore.
//   - Fencing is no authentication. A malicious client can send any token, and a very
//     large one locks out all other clients. Authenticate clients before the check.
//   - The server cannot tell apart two locks that have one path in two ensembles, or in
//     two namespaces of an ensemble. Give the locks different paths, or different stores.
package fencehttp
