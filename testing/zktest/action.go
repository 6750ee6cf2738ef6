package zktest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// Action is what a [Rule] does to a request. Several actions on one request happen in
// this order, whatever the order of the rules:
//
//  1. DelayRequest, then Call;
//  2. the first of DropRequest, Blackhole and Fail that applies; without these, the
//     request is carried out as usual;
//  3. CallAfter;
//  4. BlackholeReply or DropReply; without these, the answer is sent after
//     DelayReply.
//
// Answers to earlier requests of the connection are always sent first.
type Action struct {
	apply func(*faults)
	err   error // what is wrong with it; Inject reports it
}

// DropRequest cuts the connection instead of carrying out the request, as if the
// request had been lost in the network.
func DropRequest() Action { return Action{apply: func(f *faults) { f.dropRequest = true }} }

// holdRequest implements HoldRequest of package zkinside.
func holdRequest(d time.Duration) Action {
	a := Action{apply: func(f *faults) { f.holdRequest += d }}
	if d <= 0 {
		a.err = fmt.Errorf("a hold of %v", d)
	}
	return a
}

// DropReply carries out the request and cuts the connection instead of answering. To
// the client, DropReply looks like DropRequest. The server may have refused the
// request, for example a create below a missing parent: see Rule.After.
func DropReply() Action { return Action{apply: func(f *faults) { f.dropReply = true }} }

// Blackhole makes the connection a black hole: the connection stays open, but the
// client's requests have no effect, and the client receives nothing. This request is
// not carried out. [Server.Heal] ends the black hole.
func Blackhole() Action { return Action{apply: func(f *faults) { f.blackhole = true }} }

// BlackholeReply carries out the request, and then makes the connection a black hole;
// see [Blackhole].
func BlackholeReply() Action { return Action{apply: func(f *faults) { f.blackholeReply = true }} }

// reset implements Reset of package zkinside.
func reset() Action { return Action{apply: func(f *faults) { f.reset = true }} }

// DelayRequest waits before the request is carried out. Later requests of the
// connection wait, too. The duration d must not be negative.
func DelayRequest(d time.Duration) Action {
	return Action{apply: func(f *faults) { f.delayRequest += d }, err: checkDelay(d)}
}

// DelayReply carries out the request at once and delays the answer. Later answers and
// watch events of the connection wait, too. The duration d must not be negative.
func DelayReply(d time.Duration) Action {
	return Action{apply: func(f *faults) { f.delayReply += d }, err: checkDelay(d)}
}

func checkDelay(d time.Duration) error {
	if d < 0 {
		return fmt.Errorf("a delay of %v", d)
	}
	return nil
}

// Fail answers with an error code, and does not carry out the request. For every code,
// the answer to a handshake is "session expired". The code must not be success.
func Fail(code Code) Action {
	a := Action{apply: func(f *faults) { f.fail = code }}
	if code == 0 {
		a.err = errors.New("Fail with the code of success")
	}
	return a
}

// Call calls the function do before the request is carried out, and waits for its end.
// Later requests of the connection wait, too. For other connections, the server keeps
// working. The function may use every method of the server except Close, which waits
// for the function. It must not be nil.
func Call(do func(Request)) Action {
	return Action{apply: func(f *faults) { f.callBefore = append(f.callBefore, do) }, err: checkCall(do)}
}

// CallAfter calls the function do after the request was carried out and before the
// answer is sent. The function has the same rules as in [Call].
func CallAfter(do func(Request)) Action {
	return Action{apply: func(f *faults) { f.callAfter = append(f.callAfter, do) }, err: checkCall(do)}
}

func checkCall(do func(Request)) error {
	if do == nil {
		return errors.New("a call of a nil function")
	}
	return nil
}

// All applies several actions to the same request.
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

// faults has the effects of all rules on one request.
type faults struct {
	delayRequest, delayReply  time.Duration
	holdRequest               time.Duration
	callBefore, callAfter     []func(Request)
	fail                      wire.Code
	dropRequest, dropReply    bool
	blackhole, blackholeReply bool
	reset                     bool
}

// delaysRequest reports whether the request must wait for a pause or a function. The
// server must not be locked meanwhile.
func (f *faults) delaysRequest() bool { return f.delayRequest > 0 || len(f.callBefore) > 0 }

// before pauses and calls the functions. It returns false if the connection ended
// meanwhile.
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

// replyTime returns the time before which the answer must not be sent. The delay counts
// from the request, and not from the previous answer: on a slow line, the answers to
// requests that were sent together arrive together.
func (f *faults) replyTime() time.Time {
	if f.delayReply <= 0 {
		return time.Time{}
	}
	return time.Now().Add(f.delayReply)
}
