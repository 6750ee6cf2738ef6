package watches

import (
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/internal/random"
)

// A standard watch may be used up in silence. Some servers tell of a change
// only to those who may read the node at that moment: 3.8.4, 3.9.2, later ones,
// and others with the same correction (CVE-2024-23944). For all other clients
// the event is lost, and a watch that is good for one event with it. The node
// may be readable again a second later, and none of its changes is told any
// more, not even its deletion.
//
// So a session looks again from time to time. It sends setWatches for the
// watches that it has had for a while, as it does after a reconnect. The server
// tells at once of nodes that have changed since the watch was set, whoever may
// read them, and sets the watch of the others again. Many watches take one
// request.
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
			ws.look(ws.owner.Context)
		case <-ws.owner.Context.Done():
			pause.Stop()
			return
		}
	}
}

// look looks once, and returns when the server has answered. Watches that it
// does not answer for are left to the next look. Those that it will not set
// again are looked at by reads.
//
// A look never makes a watch newer than the look itself. What a watch becomes as
// of is the newest answer from before the look: nothing has happened to the
// node between that and the answer, or there would have been an event.
func (ws *Session) look(ctx context.Context) {
	now := ws.link.LastZxid()
	due, carried := ws.due()
	for some := range slices.Chunk(due, transport.PipelineDepth) {
		carried = append(carried, ws.ask(some, now)...)
	}
	ws.read(ctx, carried)
}

// due returns the watches that were there at the look before: those that the
// server is asked about together, and those that ride on a persistent watch. On
// connections that have refused setWatches, all of them are looked at as the latter.
func (ws *Session) due() (together [][]*Watch, carried []*Watch) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	byZxid := map[int64][]*Watch{}
	for _, w := range ws.shared {
		switch {
		case !w.isSet:
		case !w.seasoned:
			w.seasoned = true
		case ws.persistent.byPath[w.key.Path] != nil:
			carried = append(carried, w)
		default:
			byZxid[w.asOf] = append(byZxid[w.asOf], w)
		}
	}
	together = slices.Collect(maps.Values(byZxid))
	if ws.looksRefused {
		return nil, append(carried, slices.Concat(together...)...)
	}
	return together, carried
}

// ask has the server look at groups of watches. Those of one group are as of
// the same transaction. It returns those that the server has refused to look at.
func (ws *Session) ask(groups [][]*Watch, now int64) (refused []*Watch) {
	asked, calls := ws.send(groups)
	lasting := false
	for i, some := range asked {
		switch ok, refusal := answersTo(calls[i]); {
		case ok:
			ws.looked(some, now)
		case refusal != proto.CodeOK:
			refused = append(refused, some...)
			later, _ := ws.owner.Judge(refusal)
			lasting = lasting || !later
		}
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.lookingSince = math.MaxInt64
	ws.looksRefused = ws.looksRefused || lasting
	return refused
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
// were carried out. The refusal is the code of an answer that was an error.
func answersTo(calls []*transport.Call) (ok bool, refusal int32) {
	ok = len(calls) > 0
	for _, call := range calls {
		<-call.Done()
		code, _, _, err := call.Answer()
		ok = ok && err == nil && code == proto.CodeOK
		if err == nil && code != proto.CodeOK {
			refusal = code
		}
	}
	return ok, refusal
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

// read looks at the nodes of watches that ride on persistent ones. A server
// before 3.9 would set the standard watches in their place. So each of them
// takes a request, and many are under way at a time.
func (ws *Session) read(ctx context.Context, carried []*Watch) {
	ws.owner.Exists(ctx, carried, func(w *Watch, stat *proto.Stat, err error) {
		if err == nil {
			ws.compare(w, stat)
		}
	})
}

// compare ends a watch if its node is not as it was.
func (ws *Session) compare(w *Watch, stat *proto.Stat) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ev := w.changeTo(stat); ev != 0 && !w.isDone {
		w.firedLocked(ev, zk.StateSyncConnected)
	}
}

// changeTo returns what has happened to a node since its watch was set, or 0.
// There is no node if stat is nil.
func (w *Watch) changeTo(stat *proto.Stat) zk.EventType {
	switch {
	case stat == nil && w.missing:
		return 0
	case stat == nil:
		return zk.EventNodeDeleted
	case w.missing:
		return zk.EventNodeCreated
	case w.key.Table == transport.Children && stat.Pzxid > w.asOf:
		return zk.EventNodeChildrenChanged
	case w.key.Table == transport.Data && stat.Mzxid > w.asOf:
		return zk.EventNodeDataChanged
	default:
		return 0
	}
}
