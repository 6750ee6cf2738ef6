// Package fencehttp makes HTTP services refuse requests from a process that has lost its
// lock without noticing.
//
// The client's requests carry the fencing token of the lease in their context. No
// caller passes the token:
//
//	client := &http.Client{Transport: fencehttp.Transport(nil)}
//
//	request, err := http.NewRequestWithContext(lease.Context(), http.MethodPost, url, body)
//	response, err := client.Do(request)
//
// The server compares the token with the largest token seen so far:
//
//	mux.Handle("POST /accounts/{id}", fencehttp.Handler(store, func(r *http.Request) string {
//		return "/locks/accounts/" + r.PathValue("id") // the lock that guards the resource
//	}, accounts))
//
// Package fence has the code that this package and module contrib/fencegrpc share.
//
// # The header
//
// The header Fencing-Token has the token, a space, and the path of the holder's node. The
// path is escaped as in a URL, and commas are escaped, too. The path names the holder, and
// its parent is the lock; see fence.Incoming for a locks.InterProcessSemaphoreMutex:
//
//	Fencing-Token: 4294967299 /locks/accounts/7/_c_4f5e-lock-0000000012
//
// A holder in another language sends its own node's czxid and path.
//
// # The answers
//
//	reason        status
//	"stale"       409 Conflict               a larger token was seen before
//	"other_lock"  409 Conflict               the token belongs to another lock
//	"missing"     428 Precondition Required  the request has no token
//	"malformed"   400 Bad Request            the header is not as above, or there are several
//	""            503 Service Unavailable    the store has failed
//
// The body is application/problem+json, by RFC 9457. It has the usual members status,
// title and detail, and also reason and lock, the path of the lock that guards the
// resource. If the token is stale, token and owner are the request's, and newestToken
// and newestOwner are the largest token seen so far and its holder. Tokens are strings,
// because they may have 64 bits. [ErrorOf] reads the body.
//
// The error of a store may contain secrets, so the body leaves it out. Wrap the
// [fence.Store] to log its errors.
//
// # What is not fenced
//
// The check comes before the handler runs. After a request with a larger token, no
// request with a smaller one is admitted. But a request that was admitted before may
// still be running, and its later writes may follow the writes of the next holder. The
// end of the lease does not stop that handler, which runs in another process.
//
// Only a check in the write itself closes this window. The handler has the caller's
// lease:
//
//	lease, _ := fence.FromContext(r.Context())
//
// How to use the lease depends on the resource:
//
//   - For a SQL database, pass the lease to Within, Exec, Update or Upsert of module
//     contrib/fencesql.
//   - For data in memory, write within fence.Guard.Do, with the lease's FencingToken.
//   - For data in the ensemble of the lock, add a framework.CheckOp of the lease's Path
//     and of AnyVersion to the transaction, in the namespace of the holder's client.
//   - For another service, call it with the context of the request. Transport forwards
//     the token.
//
// The check before the handler remains useful: it refuses early, before effects that no
// database fences.
//
// Also:
//
//   - A new holder fences with its first request. Until then, requests of the former
//     holder are admitted.
//   - Leases with the same token are not fenced from each other; see
//     locks.Lease.FencingToken. Do not fence by the lease of a semaphore.
//   - Fencing is not authentication. A malicious client can send any token, and a very
//     large token locks out all other clients. Authenticate clients before the check.
//   - The server cannot distinguish two locks with the same path in two ensembles, or in
//     two namespaces of an ensemble. Give the locks different paths, or different stores.
package fencehttp
