package framework

import (
	"github.com/gocurator/curator/state"
)

// AfterTrust calls f when the context that Trusted returns for p has ended, and
// with it every context that is derived from it. It is for work that can wait:
// when a session is lost, thousands of holders may have to stop, and they come
// first.
//
// f must not block. It is called on a goroutine that Client.Close waits for, or
// by AfterTrust itself if the context has ended already. The function returned
// takes the call back, and reports whether it was in time for that.
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
		*on = afterFuncs{}
	}
	added := &afterFunc{f}
	(*on)[added] = struct{}{}
	return func() bool { return s.takeBack(on, added) }
}

func (s *Session) takeBack(on *afterFuncs, f *afterFunc) bool {
	s.client.mu.Lock()
	defer s.client.mu.Unlock()
	_, there := (*on)[f]
	delete(*on, f)
	return there
}

// runAfterFuncsLocked calls the functions of contexts that have ended.
// client.mu is held, and was held when the contexts were ended: so all of them
// have ended by now, and no function is added behind this call.
func (s *Session) runAfterFuncsLocked() {
	var due []afterFuncs
	if s.ctx.Err() != nil && len(s.afterEnd) > 0 {
		due = append(due, s.afterEnd)
		s.afterEnd = nil
	}
	if s.uninterrupted.Err() != nil && len(s.afterInterruption) > 0 {
		due = append(due, s.afterInterruption)
		s.afterInterruption = nil
	}
	for _, fs := range due {
		s.afterFuncs.Add(1)
		s.client.goroutines.Go(func() {
			defer s.afterFuncs.Done()
			fs.run()
		})
	}
}
