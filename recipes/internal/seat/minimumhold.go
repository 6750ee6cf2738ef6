package seat

import (
	"context"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/internal/identity"
)

// minimumHold keeps a lock for a time after its grant, even if its holder releases it
// sooner. Until then, neither another contender nor a goroutine of this process gets the
// lock. After the release, one goroutine owns the node and deletes it when the time is
// over. If the client is closed, the goroutine leaves the node to the servers.
type minimumHold struct {
	hold  *Hold
	until time.Time
}

// holdAtLeast starts the minimum hold, if the policy has one. Closing the client then
// leaves the node to the servers.
func holdAtLeast(h *Hold) {
	if h.policy.MinimumHold <= 0 {
		return
	}
	m := &minimumHold{hold: h, until: time.Now().Add(h.policy.MinimumHold)}
	s := h.seat
	s.lane.mu.Lock()
	s.minimum = m
	s.lane.mu.Unlock()
	s.mu.Lock()
	s.keepUntilLocked(m.until)
	s.mu.Unlock()
}

// begin parks a released seat for the rest of its minimum hold. It returns false if the
// time is over, if the lock is lost, or if another client has asked for the lock. The
// release then deletes the node. An interruption does not end the minimum hold, because
// no goroutine works under it.
func (m *minimumHold) begin() bool {
	if m == nil || !time.Now().Before(m.until) {
		return false
	}
	s := m.hold.seat
	s.mu.Lock()
	defer s.mu.Unlock()
	session := s.session().Context()
	if s.watched.asked.hasHappened() || session.Err() != nil || s.watched.ended {
		return false
	}
	if s.state == Lost && !reason.Is(context.Cause(s.trusted), framework.ErrSuspended) || !s.becomeLocked(Parked) {
		return false
	}
	if s.trusted.Err() != nil { // the next Watch replaces a read that the interruption ended
		s.watched.begun = false
	}
	s.trusted = session
	return s.unseatLocked(m.hold)
}

// rest keeps a released seat until its minimum hold is over.
func (m *minimumHold) rest(ctx context.Context) {
	s := m.hold.seat
	s.forget()
	defer func() { // even if a hook panics
		if !framework.Extend(s.client).Go(m.run) { // the client is closed
			s.vacate()
		}
	}()
	m.tell(ctx)
}

// tell records that the lock was released and stays: for the goroutines of this process,
// and in the node's data for other clients. If the release's context has ended, or there
// is no connection, the node's data is not changed. If another client has already written
// the node, that was a request to give the lock up, which run handles.
func (m *minimumHold) tell(ctx context.Context) {
	s := m.hold.seat
	if s.lane.key.exactData {
		return
	}
	s.lane.mu.Lock()
	s.data = identity.Kept(s.data, m.until)
	s.lane.mu.Unlock()
	const unwritten = 0
	_, _ = s.client.Set(ctx, s.nodes[0].Path, s.data, unwritten) // the data is informative, so an error is ignored
}

// run waits until the minimum hold is over, and deletes the node.
func (m *minimumHold) run(ctx context.Context) {
	s := m.hold.seat
	timer := time.NewTimer(time.Until(m.until))
	defer timer.Stop()
	session := s.session().Context()
	select {
	case <-timer.C:
	case <-s.Requested():
	case <-s.Over():
	case <-session.Done():
	case <-ctx.Done():
	}
	if ctx.Err() == nil && !reason.Is(context.Cause(session), framework.ErrClosed) {
		s.deleteInBackground()
	}
	s.vacate()
}
