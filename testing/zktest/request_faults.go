package zktest

// Inject puts a rule to work. Several rules may hit the same request; then all
// of their actions apply. A rule with a malformed pattern, or with an action
// that is missing or makes no sense, hits nothing: it fails the test of the
// server, and [Injection.Err] says what is wrong for a server of [Run].
func (s *Server) Inject(r Rule) *Injection { return s.inject(r, s.number()) }

// Inject puts a rule to work at every member. They count together: see
// [Server.Inject].
func (e *Ensemble) Inject(r Rule) *Injection { return e.inject(r, 0) }

// inject puts a rule to work at a member, or with 0 at all there are.
func (c *cluster) inject(r Rule, member int) *Injection {
	if r.Times == 0 {
		r.Times = 1
	}
	inj := &Injection{monitor: &c.monitor, rules: &c.rules, rule: r, member: member, done: make(chan struct{})}
	if err := r.check(); err != nil {
		inj.err = c.misuse("%w", err)
		return inj
	}
	c.mu.Lock()
	defer c.unlock()
	c.rules.addLocked(inj)
	return inj
}
