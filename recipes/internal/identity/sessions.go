package identity

import "slices"

// Sessions are the last sessions in which something of ours has owned a node, or
// may have. The node is recognised by them. The zero Sessions is empty. The
// caller's mutex protects it.
type Sessions []int64

// maxSessions bounds how many sessions are remembered. An older one than these is
// over for long.
const maxSessions = 16

// Note remembers a session.
func (s *Sessions) Note(id int64) {
	if !s.Has(id) {
		*s = append(*s, id)
		*s = (*s)[max(0, len(*s)-maxSessions):]
	}
}

// Has reports whether a session is remembered.
func (s Sessions) Has(id int64) bool { return slices.Contains(s, id) }
