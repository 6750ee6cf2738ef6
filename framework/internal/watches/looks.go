package watches

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/internal/random"
)

// A server may drop a standard watch silently. ZooKeeper 3.8.4, 3.9.2 and later, and other
// servers with the fix of CVE-2024-23944, send the event of a change only to clients that may
// read the node at that moment. All other clients lose the event and the watch. Even if the
// client may read the node a second later, no change of the node causes an event from then
// on, not even its deletion.
//
// So a session periodically sends setWatches for the watches that it has had for a while, as
// after a reconnect. The server at once sends events of nodes that have changed since the
// watch was set, even to clients that may not read the nodes, and sets the other watches
// again. One request covers many watches.
//
// Each request names a transaction, and causes events only for later changes. For a new
// watch, it is the transaction of the read that has set the watch. Later, it is the
// transaction of the newest check, which all watches of the check share. So no waiter gets
// an event for a change that it has already seen. A watch that no check has covered yet
// costs a separate request, unless another watch has the same transaction.

// The pauses between checks are random, so that clients which were started together do
// not check at the same time. A check covers the watches that existed at the previous
// check. So the client notices an unreported change after at most twice the longest
// pause, and does not ask about watches that are younger than the shortest pause.
//
// Shorter pauses would cost requests for locks that are held for a minute or two. With
// longer pauses, a holder whose node was silently deleted would overlap longer with the
// next holder.
const (
	shortestLookPause = 2 * time.Minute
	longestLookPause  = 150 * time.Second
)

// LookAgain periodically checks the session's watches until the session ends.
func (ws *Session) LookAgain() {
	for {
		pause := time.NewTimer(shortestLookPause + random.Duration(longestLookPause-shortestLookPause))
		select {
		case <-pause.C:
			ws.look()
		case <-ws.owner.Context.Done():
			pause.Stop()
			return
		}
	}
}

// look checks the watches once, and returns when the server has answered. Watches for
// which the server does not answer, or which it refuses to set again, are left to the
// next check. So are watches on the path of a persistent watch, which a server before
// 3.9 would replace by the standard watch.
//
// After a check, a watch is as of the newest answer from before the check, and never
// newer: if the node had changed between that answer and the check's answer, there would
// have been an event.
func (ws *Session) look() {
	now := ws.link.LastZxid()
	for some := range slices.Chunk(ws.due(), transport.PipelineDepth) {
		ws.ask(some, now)
	}
}

// due returns the watches that existed at the previous check, in groups for one request
// each.
func (ws *Session) due() [][]*Watch {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	byZxid := map[int64][]*Watch{}
	for _, w := range ws.shared {
		switch {
		case !w.seasoned:
			w.seasoned = true
		case ws.persistent.byPath[w.key.Path] == nil:
			byZxid[w.asOf] = append(byZxid[w.asOf], w)
		}
	}
	return slices.Collect(maps.Values(byZxid))
}

// ask sets groups of watches again. The watches of one group are as of the same
// transaction.
func (ws *Session) ask(groups [][]*Watch, now int64) {
	asked, calls := ws.send(groups)
	for i, some := range asked {
		if answersTo(calls[i]) {
			ws.looked(some, now)
		}
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.lookingSince = math.MaxInt64
}

// send sends the requests about groups of watches. It returns the watches in these
// requests, with the calls of each group; it omits watches that have ended since, or
// that a persistent watch carries now.
func (ws *Session) send(groups [][]*Watch) (asked [][]*Watch, calls [][]*transport.Call) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for _, group := range groups {
		var some []*Watch
		var all []transport.SetWatch
		for _, w := range group {
			if !w.isDone && ws.persistent.byPath[w.key.Path] == nil {
				some = append(some, w)
				all = append(all, transport.SetWatch{Watch: w.key, Missing: w.missing})
			}
		}
		since := group[0].asOf
		ws.lookingSince = min(ws.lookingSince, since)
		asked = append(asked, some)
		calls = append(calls, ws.link.SetWatches(since, all))
	}
	return asked, calls
}

// answersTo waits for the answers to requests, and reports whether all of them
// were carried out.
func answersTo(calls []*transport.Call) (ok bool) {
	ok = len(calls) > 0
	for _, call := range calls {
		<-call.Done()
		code, _, _, err := call.Answer()
		ok = ok && err == nil && code == proto.CodeOK
	}
	return ok
}

// looked records that the server was asked about watches.
func (ws *Session) looked(group []*Watch, now int64) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for _, w := range group {
		if !w.isDone {
			w.asOf = max(w.asOf, now)
		}
	}
}

// Restore passes to set, on a new connection, the watches that the server should have.
// No watch is withdrawn meanwhile.
//
// A handshake may finish after its session is over, and even after the next session is
// connected, if the goroutine that reads the answer gets no processor before. The
// persistent watches then belong to the next session.
func (ws *Session) Restore(set func([]transport.SetWatch, []*transport.PersistentWatch)) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.owner.Context.Err() != nil {
		set(nil, nil)
		return
	}
	var all []transport.SetWatch
	for key, w := range ws.shared {
		w.isAnew = true
		all = append(all, transport.SetWatch{Watch: key, Missing: w.missing})
	}
	slices.SortFunc(all, bySetting)
	set(all, ws.persistent.restoreLocked())
}

// NotSet is called when the server has not set watches again on a new connection,
// because of a refusal or the end of the connection. The watches end without an event
// from the server, and their waiters read again. So if a server hangs up on the request
// for any reason, the client sends the request once for each stable connection, and not
// for ever.
func (ws *Session) NotSet() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.owner.Context.Err() != nil {
		return // the watches end with the session
	}
	for _, w := range ws.shared {
		if w.isAnew {
			w.firedLocked(zk.EventNotWatching, zk.StateDisconnected)
		}
	}
}

// bySetting is the order in which watches are set again. It is deterministic, so that
// tests are repeatable.
func bySetting(a, b transport.SetWatch) int {
	return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Table, b.Table))
}
