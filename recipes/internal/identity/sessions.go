package identity

import (
	"slices"
	"sync"
)

// Sessions are the last sessions in which something of ours has owned a node, or
// may have. The node is recognised by them. The zero Sessions is empty. It is
// safe for concurrent use, and takes no other mutex.
type Sessions struct {
	mu  sync.Mutex // protects the following field
	ids []int64
}

// maxSessions bounds how many sessions are remembered. An older one than these is
// over for long.
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
