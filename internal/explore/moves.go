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

	orders bool // the move only changes the order of events under way
}

// shortWait is how long a move delays a message, or a server is out of order. It is
// longer than any pause between two attempts, and shorter than a session.
const shortWait = time.Second

// removeWatches is the number of that request.
const removeWatches zktest.Op = 18

// moves returns the possible moves, the natural move first. It returns nil if nothing
// is under way.
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
			wait = 2 * w.timeout // longer than a session, for an actor that works longer than its session may last
		}
		moves = append(moves,
			move{"when nothing else is under way: " + head.text, func() { head.held = true }, true},
			move{fmt.Sprintf("after %v: %s", wait, head.text),
				func() { head.held, head.until = true, time.Now().Add(wait) }, true})
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

// faultsOf are the possible faults of a message. A cut before a request loses the
// request, and a cut before an answer loses the answer, so neither is listed twice.
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
		// No correct server silently gives a client another session. So "untold" in a
		// story means that ZooKeeper itself may not be able to behave so.
		session := i.actor.session()
		replace := zktest.Call(func(zktest.Request) { w.inside().ReplaceSession(session) })
		moves = append(moves,
			with("late, and its client has another session, untold",
				zktest.All(replace, zkinside.HoldRequest(shortWait/2).(zktest.Action))),
			with("its answer is lost, and its client has another session, untold", zktest.All(replace, zktest.DropReply())))
	}
	// If a server does not remove a watch, the watch stays, and the client cannot help
	// that.
	if op := requestOf(i.message).Op; op != zktest.OpConnect && op != removeWatches {
		moves = append(moves, with("throttled", zktest.Fail(zkinside.ErrThrottled)))
	}
	return moves
}

func cutMove(a *Actor) move { return move{text: a.name + " is cut", do: a.Cut} }

// sessionMoves are the two ways in which an actor loses its session.
func sessionMoves(a *Actor) []move {
	if a.Closed() {
		return nil // the actor has no session
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

// giveUpMoves end the contexts of an actor's calls. These moves exist only before one
// of the actor's own messages, because the actor would notice nothing else meanwhile.
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
	if i.message != nil && isRequest(i.message) { // its place among the requests of other actors counts
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

// remember adds an event at the servers, with its time, to the state.
func (w *World) remember(text string) {
	w.history.add(text)
	w.history.addUint(uint64(time.Now().UnixNano()))
}
