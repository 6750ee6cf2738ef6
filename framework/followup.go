package framework

import (
	"runtime"

	"github.com/gocurator/curator/state"
)

// followUps are calls to be made when a context of a session has ended.
// Protected by client.mu.
type followUps map[*followUp]struct{}

type followUp struct{ call func() }

// make lets those run first who have been woken by the end of their contexts:
// the scheduler prefers new goroutines.
func (calls followUps) make() {
	runtime.Gosched()
	for f := range calls {
		f.call()
	}
}

// AfterTrust calls f when the context that Trusted returns for p has ended, and
// with it every context that is derived from it: when a session is lost,
// thousands of holders may have to stop, and nothing else is urgent.
//
// f must not block. It is called on a goroutine that Client.Close waits for, or
// by AfterTrust itself if the context has ended already.
// The function returned takes the call back, and reports whether it was in time
// for that.
func (s *Session) AfterTrust(p state.ErrorPolicy, f func()) (stop func() bool) {
	c := s.client
	c.mu.Lock()
	on, over := &s.afterEnd, s.ctx
	if p.IsError(state.Suspended) {
		on, over = &s.afterInterruption, s.uninterrupted
	}
	if over.Err() != nil {
		c.mu.Unlock()
		f()
		return func() bool { return false }
	}
	defer c.mu.Unlock()
	if *on == nil {
		*on = followUps{}
	}
	follow := &followUp{f}
	(*on)[follow] = struct{}{}
	return func() bool { return s.takeBack(on, follow) }
}

func (s *Session) takeBack(on *followUps, f *followUp) bool {
	s.client.mu.Lock()
	defer s.client.mu.Unlock()
	_, there := (*on)[f]
	delete(*on, f)
	return there
}

// followUpLocked makes the calls that belong to contexts that have ended.
// client.mu is held, and was held when the contexts were ended: so all of them
// have ended by now, and no call is added behind this one.
func (s *Session) followUpLocked() {
	var due []followUps
	if s.ctx.Err() != nil && len(s.afterEnd) > 0 {
		due = append(due, s.afterEnd)
		s.afterEnd = nil
	}
	if s.uninterrupted.Err() != nil && len(s.afterInterruption) > 0 {
		due = append(due, s.afterInterruption)
		s.afterInterruption = nil
	}
	for _, calls := range due {
		s.client.goroutines.Go(calls.make)
	}
}
