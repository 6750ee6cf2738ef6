package explore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// move is something that may happen next.
type move struct {
	text string
	do   func()

	orders bool // it changes the order of what is under way, and nothing else
}

// shortWait is how long something is held back, or is out of order. It is longer
// than any pause between two attempts, and shorter than a session.
const shortWait = time.Second

// removeWatches is the number of that request.
const removeWatches zktest.Op = 18

// moves returns what may happen next, the natural move first. It is nil when
// nothing is under way.
func (w *World) moves() []move {
	ready := w.queue.ready()
	head := headOf(ready)
	if head == nil {
		return nil
	}
	moves := []move{{text: head.text, do: func() { w.arrive(head) }}}
	if !head.held {
		if len(ready) > 1 {
			moves = append(moves, move{"later: " + head.text, func() { w.queue.postpone(head) }, true})
		}
		wait := shortWait
		if head.message == nil {
			wait = 2 * w.timeout // an actor that works for longer than its session may last
		}
		moves = append(moves,
			move{"when nothing else is under way: " + head.text, func() { head.held = true }, true},
			move{fmt.Sprintf("after %v: %s", wait, head.text), func() { head.held, head.until = true, time.Now().Add(wait) }, true})
	}
	moves = append(moves, w.faultsOf(head)...)
	moves = append(moves, sessionMoves(head.actor)...)
	moves = append(moves, giveUpMoves(head.actor)...)
	moves = append(append(moves, w.memberMoves()...), lingerMove(head.actor)...)
	return append(moves, closeMove(head.actor)...)
}

// headOf returns the item that arrives in the natural course.
func headOf(ready []*item) *item {
	for _, held := range []bool{false, true} {
		for _, i := range ready {
			if i.held == held && !i.stalled() {
				return i
			}
		}
	}
	return nil
}

// quietMoves are the deviations from time passing.
func (w *World) quietMoves() []move {
	var moves, lingers, ends []move
	for _, a := range w.actors {
		if !a.isDone() {
			moves = append(moves, cutMove(a))
			moves = append(moves, sessionMoves(a)...)
			moves = append(moves, giveUpMoves(a)...)
			lingers = append(lingers, lingerMove(a)...)
			ends = append(ends, closeMove(a)...)
		}
	}
	return slices.Concat(moves, w.memberMoves(), lingers, ends)
}

// faultsOf are what may go wrong with a message. A cut before a request is a lost
// request, and one before an answer is a lost answer: so it is not there twice.
func (w *World) faultsOf(i *item) []move {
	if i.message == nil {
		return nil
	}
	switch {
	case i.message.Event != "":
		return []move{cutMove(i.actor)}
	case i.message.Answer:
		return nil
	}
	with := func(text string, a zktest.Action) move {
		return move{text: text + ": " + i.text, do: func() {
			i.actor.disturb()
			w.queue.take(i)
			i.message.Deliver(a)
		}}
	}
	moves := []move{
		with("lost", zktest.DropRequest()),
		with("its answer is lost", zktest.DropReply()),
		with("into a black hole", zktest.Blackhole()),
	}
	if requestOf(i.message).Op != zktest.OpConnect {
		// No correct server gives a client another session without a word, so that
		// "untold" in a story says that ZooKeeper may not be able to play it.
		session := i.actor.session()
		replace := zktest.Call(func(zktest.Request) { w.inside().ReplaceSession(session) })
		moves = append(moves,
			with("late, and its client has another session, untold",
				zktest.All(replace, zkinside.HoldRequest(shortWait/2).(zktest.Action))),
			with("its answer is lost, and its client has another session, untold", zktest.All(replace, zktest.DropReply())))
	}
	// A watch that a server does not take back stays, and nobody can do more.
	if op := requestOf(i.message).Op; op != zktest.OpConnect && op != removeWatches {
		moves = append(moves, with("throttled", zktest.Fail(zkinside.ErrThrottled)))
	}
	return moves
}

func cutMove(a *Actor) move { return move{text: a.name + " is cut", do: a.Cut} }

// sessionMoves are the two ways in which an actor loses its session.
func sessionMoves(a *Actor) []move {
	if a.Closed() {
		return nil // it has none
	}
	return []move{
		{text: a.name + " is cut off until its session has expired", do: a.LoseSession},
		{text: a.name + "'s session expires without a warning", do: a.Expire},
	}
}

// lingerMove is a loss after which the servers still have the session for a while.
func lingerMove(a *Actor) []move {
	if a.Closed() {
		return nil
	}
	return []move{{text: a.name + " is cut off until it has given its session up", do: a.GiveUpSession}}
}

// closeMove is the end of a client, at which its calls have to return.
func closeMove(a *Actor) []move {
	if a.Closed() {
		return nil
	}
	return []move{{text: a.name + " closes its client", do: a.Close}}
}

// giveUpMoves end the contexts of an actor's calls. They are moves before one of
// its own messages only: it would notice nothing else meanwhile.
func giveUpMoves(a *Actor) []move {
	var moves []move
	for _, c := range a.endable() {
		moves = append(moves,
			move{text: fmt.Sprintf("%s gives up: %s", a.name, c.name), do: func() { a.endCall(c, context.Canceled) }},
			move{text: fmt.Sprintf("%s gives up for any reason: %s", a.name, c.name), do: func() { a.endCall(c, anything) }})
	}
	return moves
}

// arrive lets the item arrive.
func (w *World) arrive(i *item) {
	w.queue.take(i)
	if i.message != nil && isRequest(i.message) { // its place among those of others counts
		w.remember(i.text)
		if fault, meets := i.actor.meet(requestOf(i.message).Op); meets {
			i.actor.disturb()
			i.message.Deliver(fault)
			return
		}
		i.arrive()
		return
	}
	i.actor.mu.Lock()
	i.actor.history.add(i.text)
	i.actor.history.addUint(uint64(time.Now().UnixNano()))
	i.actor.mu.Unlock()
	i.arrive()
}

// handle returns the handle of the actor's session.
func (w *World) handle(a *Actor) *zktest.Session {
	if w.ensemble != nil {
		return w.ensemble.Session(a.session())
	}
	return w.server.Session(a.session())
}

// inside returns what the servers do for this module alone.
func (w *World) inside() zkinside.Servers {
	if w.ensemble != nil {
		return zkinside.Of(w.ensemble)
	}
	return zkinside.Of(w.server)
}

// remember makes what has happened to the servers, now, part of the state.
func (w *World) remember(text string) {
	w.history.add(text)
	w.history.addUint(uint64(time.Now().UnixNano()))
}
