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
// read the node at that moment. For all other clients the event is lost, and the watch with
// it. Even if the client may read the node a second later, no change of the node causes an
// event from then on, not even its deletion.
//
// So a session periodically sends setWatches for the watches that it has had for a while, as
// after a reconnect. The server at once sends events of nodes that have changed since the
// watch was set, whoever may read the nodes, and sets the other watches again. One request
// covers many watches.
//
// The requests tell of no change that a waiter has seen already, because each
// watch is as of a transaction. At first that is the transaction of the read
// that has set the watch, and later the newest look's. All watches that have
// been looked at have the same one. A watch that is looked at for the first
// time costs a request, unless others are as of the same transaction.

// A look follows such a pause after the one before, at random, so that many
// clients which were started together do not look together. It is about the
// watches that were there at the look before. So a change that was not told is
// noticed after twice the longest pause at the latest, and nothing is asked
// about a watch that is younger than the shortest.
//
// Less would be paid by locks that are held for a minute or two. More would be
// at the expense of those whose node is deleted without a word: until they
// notice, they hold the lock together with the next.
const (
	shortestLookPause = 2 * time.Minute
	longestLookPause  = 150 * time.Second
)

// LookAgain looks at the session's watches from time to time until the session
// ends.
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

// look looks once, and returns when the server has answered. Watches that it
// does not answer for, or refuses to set again, are left to the next look. So are
// those on the path of a persistent watch, for as long as there is one: a server
// before 3.9 would set the standard watch in its place.
//
// A look never makes a watch newer than the look itself. What a watch becomes as
// of is the newest answer from before the look: nothing has happened to the
// node between that and the answer, or there would have been an event.
func (ws *Session) look() {
	now := ws.link.LastZxid()
	for some := range slices.Chunk(ws.due(), transport.PipelineDepth) {
		ws.ask(some, now)
	}
}

// due returns the watches that were there at the look before, in groups that the
// server is asked about together.
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

// send sends the requests about groups of watches. It returns the watches that
// it has asked about, with the calls of each group: some have ended since they
// were due, and some ride on a persistent watch now.
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

// looked notes that the server has been asked about watches.
func (ws *Session) looked(group []*Watch, now int64) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for _, w := range group {
		if !w.isDone {
			w.asOf = max(w.asOf, now)
		}
	}
}

// Restore passes the watches that the server should have to set, on a new
// connection. Nothing is withdrawn meanwhile.
//
// A handshake may end when its session is over, and even when the next one is
// connected: the goroutine that reads the answer may get no processor before.
// The persistent watches are the next session's by then.
func (ws *Session) Restore(set func([]transport.SetWatch)) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.owner.Context.Err() != nil {
		set(nil)
		return
	}
	var all []transport.SetWatch
	for key, w := range ws.shared {
		w.isAnew = true
		all = append(all, transport.SetWatch{Watch: key, Missing: w.missing})
	}
	slices.SortFunc(all, bySetting)
	set(append(all, ws.persistent.restoreLocked()...))
}

// NotSet is called when the server has not set watches again on a new connection:
// it has refused that, or the connection has ended before the answer. The watches
// end without an event of the server, and their waiters read again. So a server
// that hangs up on the request, whatever the reason, is asked once for each
// connection that holds, and not for ever.
func (ws *Session) NotSet() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.owner.Context.Err() != nil {
		return // they end for that reason
	}
	for _, w := range ws.shared {
		if w.isAnew {
			w.firedLocked(zk.EventNotWatching, zk.StateDisconnected)
		}
	}
}

// bySetting is the order in which watches are set again. It is the same each time, so
// that a test can play what follows from it again.
func bySetting(a, b transport.SetWatch) int {
	return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Table, b.Table))
}
