package identity

import (
	"slices"
	"sync"
)

// Sessions are the last sessions in which an object of this client has, or may have,
// created a node. They identify the object's nodes. The zero Sessions is empty. Sessions
// is safe for concurrent use, and locks no other mutex.
type Sessions struct {
	mu  sync.Mutex // protects the following field
	ids []int64
}

// maxSessions bounds how many sessions are remembered. Older sessions ended long ago.
const maxSessions = 16

// Note remembers a session.
func (s *Sessions) Note(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.ids, id) {
		s.ids = append(s.ids, id)
		s.ids = s.ids[max(0, len(s.ids)-maxSessions):]
	}
}

// Has reports whether a session is remembered.
func (s *Sessions) Has(id int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.ids, id)
}
