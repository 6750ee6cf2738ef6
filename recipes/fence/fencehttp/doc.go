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
// The body is a description of the problem, which [ErrorOf] reads; see [Handler].
//
// # What is not fenced
//
// The check comes before the handler runs. A request that was admitted may still be
// running when the next holder writes. Only a check in the write itself closes this
// window. The handler has the caller's lease for that:
//
//	lease, _ := fence.FromContext(r.Context())
//
// [fence.Incoming] says how to use the lease, and has the other limits. Fencing is not
// authentication: authenticate clients before the check.
package fencehttp
