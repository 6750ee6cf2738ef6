package state

// ErrorPolicy decides which states end work that relies on the session, such as
// a held lock or a leadership.
type ErrorPolicy int

const (
	// SessionPolicy trusts the session until it is Lost. It is the default: the
	// client declares Lost before the server can give an ephemeral node away,
	// so a short interruption need not stop any work.
	SessionPolicy ErrorPolicy = iota

	// StandardPolicy stops trusting the session in Suspended already. It is
	// Curator's default. Use it for work that must not go on for a moment
	// without a connection.
	StandardPolicy
)

// IsError reports whether work that relies on the session must stop in state s.
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
