package zktest

import (
	"time"

	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// Action is what a [Rule] does to a request. Actions that hit the same request
// take place in this order, whatever the order of the rules:
//
//  1. DelayRequest, then Call;
//  2. DropRequest, Reset, Mute, Deafen or Fail, the first of them that applies, or
//     else the request is carried out as usual;
//  3. CallAfter;
//  4. MuteReply, Silence or DropReply, or else the answer is sent, after DelayReply
//     and in the place that ReplyFirst or EventFirst gives it.
//
// Answers to earlier requests of the connection always go out first.
type Action struct {
	apply func(*faults)
}

var (
	// DropRequest cuts the connection instead of carrying out the request: it was
	// lost on the way.
	DropRequest = Action{func(f *faults) { f.dropRequest = true }}

	// DropReply carries out the request and cuts the connection instead of
	// answering. The client cannot tell this from DropRequest.
	DropReply = Action{func(f *faults) { f.dropReply = true }}

	// Mute makes the connection a black hole, beginning with this request, which
	// is not carried out: the connection stays open, but nothing the client sends
	// has any effect and nothing is sent to it. See [Server.Heal].
	Mute = Action{func(f *faults) { f.mute = true }}

	// MuteReply carries out the request, and then does as Mute.
	MuteReply = Action{func(f *faults) { f.muteReply = true }}

	// Reset is DropRequest with the end that TCP's RST makes: the client does not
	// even get what was sent to it before and what it has not read.
	Reset = Action{func(f *faults) { f.reset = true }}

	// Deafen makes the connection half-open, beginning with this request, which is
	// not carried out: nothing that the client sends arrives any more, and it is
	// still told of watch events. See [Server.Heal].
	Deafen = Action{func(f *faults) { f.deafen = true }}

	// Silence makes the connection half-open the other way, beginning with the
	// answer to this request: what the client sends is carried out, and keeps its
	// session alive, but nothing is sent to it, not even the end of the connection.
	// See [Server.Heal].
	Silence = Action{func(f *faults) { f.silence = true }}

	// ReplyFirst sends the answer to a write before the watch events that the write
	// causes on the same connection. No ZooKeeper does that; the action serves to see
	// whether a client relies on the order.
	ReplyFirst = Action{func(f *faults) { f.replyFirst = true }}

	// EventFirst lets the next watch event overtake the answer, such as the answer to
	// the read that sets the watch: the answer waits until there is something else to
	// send, and then follows if that is an event. No ZooKeeper does that either.
	EventFirst = Action{func(f *faults) { f.eventFirst = true }}
)

// DelayRequest waits before the request is carried out. Later requests on the
// connection wait behind it.
func DelayRequest(d time.Duration) Action {
	return Action{func(f *faults) { f.delayRequest += d }}
}

// DelayReply carries out the request at once and holds the answer back, and with
// it everything behind it on the connection, watch events included.
func DelayReply(d time.Duration) Action {
	return Action{func(f *faults) { f.delayReply += d }}
}

// Fail answers with an error code without carrying out the request. A handshake
// is answered with "session expired", whatever the code.
func Fail(code wire.Code) Action {
	return Action{func(f *faults) { f.fail = code }}
}

// Call calls do before the request is carried out, and waits for it. Later requests
// on the connection wait behind it; otherwise the server keeps working, and do may
// use all of its methods except Close, which waits for do.
func Call(do func(Request)) Action {
	return Action{func(f *faults) { f.callBefore = append(f.callBefore, do) }}
}

// CallAfter calls do after the request has been carried out and before the
// answer is sent. What is said of [Call] holds here too.
func CallAfter(do func(Request)) Action {
	return Action{func(f *faults) { f.callAfter = append(f.callAfter, do) }}
}

// All does several things to the same request.
func All(actions ...Action) Action {
	return Action{func(f *faults) {
		for _, a := range actions {
			a.apply(f)
		}
	}}
}
