package barriers

// Option configures a DoubleBarrier. An option that cannot be used is an error
// of every call.
type Option func(*config)

type config struct{ curator bool }

// WithCuratorLayout makes a DoubleBarrier use the nodes of Java Curator's
// DistributedDoubleBarrier, so that Go and Java processes may be members
// together. All members must use the same layout. The limits are Java's:
//
//   - The barrier may let more than n members in: those who come while others
//     are inside pass at once.
//   - A Java member whose server lags behind may leave while others are inside.
//     Ours waits for all who had entered when Leave was called, and for none of
//     those who come later.
//   - A Java member that crashes inside may leave the node "ready" behind, and
//     the next Java member passes alone then. Ours deletes such a node if there
//     is no other member. A "ready" of ours ends with its session.
//   - A Java member whose Enter timed out counts until its session ends.
//   - A node that a member of ours has in a session that is over counts for Java
//     until that ends. Ours count a member once.
//   - The loss of another member is not noticed: the context of a Passage ends
//     with the member's own session, or when it leaves.
//   - A member that is disconnected while the barrier opens, and until all others
//     have left again, does not learn of it and waits for the next opening. So it
//     is if the session that has opened the barrier ends meanwhile. Those who are
//     inside then wait in their Leave until that member enters, or gives up.
func WithCuratorLayout() Option { return func(c *config) { c.curator = true } }

// apply applies options, none of which may be nil.
func apply[C any, O ~func(*C)](c *C, opts []O) error {
	for _, o := range opts {
		if o == nil {
			return isNil("option")
		}
		o(c)
	}
	return nil
}
