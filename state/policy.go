package state

// ErrorPolicy says which states end what was built on the session: a held lock, a leadership.
type ErrorPolicy int

const (
	// SessionPolicy trusts the session until it is Lost. It is the default: the client declares Lost before the
	// server can give an ephemeral node away, so a short interruption need not stop anybody's work.
	SessionPolicy ErrorPolicy = iota

	// StandardPolicy treats Suspended as the end already. It is Curator's default, for work that must not go on
	// for one moment without a connection.
	StandardPolicy
)

// IsError reports whether what was built on the session must be given up in state s.
func (p ErrorPolicy) IsError(s State) bool {
	return s == Lost || p == StandardPolicy && s == Suspended
}

// String returns the policy's name.
func (p ErrorPolicy) String() string {
	if p == StandardPolicy {
		return "StandardPolicy"
	}
	return "SessionPolicy"
}
