package zktest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// Action is what a [Rule] does to a request. Actions that hit the same request
// take place in this order, whatever the order of the rules:
//
//  1. DelayRequest, then Call;
//  2. DropRequest, Blackhole or Fail, the first of them that applies, or else
//     the request is carried out as usual;
//  3. CallAfter;
//  4. BlackholeReply or DropReply, or else the answer is sent, after
//     DelayReply.
//
// Answers to earlier requests of the connection always go out first.
type Action struct {
	apply func(*faults)
	err   error // what is wrong with it; Inject reports it
}

// DropRequest cuts the connection instead of carrying out the request, as if the
// request was lost on the way.
func DropRequest() Action { return Action{apply: func(f *faults) { f.dropRequest = true }} }

// holdRequest is HoldRequest of package zkinside.
func holdRequest(d time.Duration) Action {
	a := Action{apply: func(f *faults) { f.holdRequest += d }}
	if d <= 0 {
		a.err = fmt.Errorf("a hold of %v", d)
	}
	return a
}

// DropReply carries out the request and cuts the connection instead of
// answering. The client cannot tell this from DropRequest. A request may
// have been refused, such as a create without its parents: see Rule.After.
func DropReply() Action { return Action{apply: func(f *faults) { f.dropReply = true }} }

// Blackhole makes the connection a black hole, beginning with this request,
// which is not carried out. The connection stays open, but nothing the client
// sends has any effect, and nothing is sent to it. See [Server.Heal].
func Blackhole() Action { return Action{apply: func(f *faults) { f.blackhole = true }} }

// BlackholeReply carries out the request, and then makes the connection a black hole,
// as [Blackhole] does.
func BlackholeReply() Action { return Action{apply: func(f *faults) { f.blackholeReply = true }} }

// reset is Reset of package zkinside.
func reset() Action { return Action{apply: func(f *faults) { f.reset = true }} }

// DelayRequest waits before the request is carried out. Later requests on the
// connection wait behind it. A negative d is refused.
func DelayRequest(d time.Duration) Action {
	return Action{apply: func(f *faults) { f.delayRequest += d }, err: checkDelay(d)}
}

// DelayReply carries out the request at once and holds the answer back, and
// with it everything behind it on the connection, watch events included. A
// negative d is refused.
func DelayReply(d time.Duration) Action {
	return Action{apply: func(f *faults) { f.delayReply += d }, err: checkDelay(d)}
}

func checkDelay(d time.Duration) error {
	if d < 0 {
		return fmt.Errorf("a delay of %v", d)
	}
	return nil
}

// Fail answers with an error code without carrying out the request. A handshake
// is answered with "session expired", whatever the code. The code of success is
// refused.
func Fail(code Code) Action {
	a := Action{apply: func(f *faults) { f.fail = code }}
	if code == 0 {
		a.err = errors.New("Fail with the code of success")
	}
	return a
}

// Call calls do before the request is carried out, and waits for it. Later
// requests on the connection wait behind it; otherwise the server keeps
// working, and do may use all of its methods except Close, which waits for do.
// A nil do is refused.
func Call(do func(Request)) Action {
	return Action{apply: func(f *faults) { f.callBefore = append(f.callBefore, do) }, err: checkCall(do)}
}

// CallAfter calls do after the request has been carried out and before the
// answer is sent. The contract of [Call] holds here too.
func CallAfter(do func(Request)) Action {
	return Action{apply: func(f *faults) { f.callAfter = append(f.callAfter, do) }, err: checkCall(do)}
}

func checkCall(do func(Request)) error {
	if do == nil {
		return errors.New("a call of a nil function")
	}
	return nil
}

// All does several things to the same request.
func All(actions ...Action) Action {
	actions = slices.Clone(actions)
	all := Action{apply: func(f *faults) {
		for _, a := range actions {
			a.apply(f)
		}
	}}
	for _, a := range actions {
		if a.apply == nil && a.err == nil {
			a.err = errors.New("All with an empty Action")
		}
		all.err = errors.Join(all.err, a.err)
	}
	return all
}

// faults is everything that the rules want done to one request.
type faults struct {
	delayRequest, delayReply  time.Duration
	holdRequest               time.Duration
	callBefore, callAfter     []func(Request)
	fail                      wire.Code
	dropRequest, dropReply    bool
	blackhole, blackholeReply bool
	reset                     bool
}

// delaysRequest reports whether there is something to do before the request
// that cannot be done with the server locked.
func (f *faults) delaysRequest() bool { return f.delayRequest > 0 || len(f.callBefore) > 0 }

// before reports false if the connection ended meanwhile.
func (f *faults) before(done <-chan struct{}, req Request) bool {
	if !sleep(f.delayRequest, done) {
		return false
	}
	for _, call := range f.callBefore {
		call(req)
	}
	return true
}

func (f *faults) after(req Request) {
	for _, call := range f.callAfter {
		call(req)
	}
}

// replyTime is the time before which the answer must not go out. It counts from
// the request and not from the answer before it, so that the answers to
// requests sent together arrive together, as over a slow line.
func (f *faults) replyTime() time.Time {
	if f.delayReply <= 0 {
		return time.Time{}
	}
	return time.Now().Add(f.delayReply)
}
