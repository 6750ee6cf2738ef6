package zktest

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// Rule aims an [Action] at requests. A zero field does not restrict the rule: a rule
// with only Do hits the next request that is neither a ping nor a handshake.
type Rule struct {
	// Op is the type of request; see [Op] for the ones that cover several.
	// OpAny matches everything except pings, which are Op(11), and handshakes, which
	// are OpConnect.
	Op Op
	// Path is a pattern as in [path.Match] for the path the request is about,
	// or for one of the paths of a multi; "" matches every request. The path of a
	// sequential create has no number yet. The names of a lock's nodes begin with a
	// random id, as in /locks/x/_c_<id>-lock-0000000000: the pattern for the nodes of
	// the lock /locks/x is /locks/x/*.
	Path string
	// Session is the session that sends the request, 0 for any. For a handshake
	// it is the session that the client wants to continue.
	Session int64
	// After is how many matching requests to let through first. For example, a
	// client that creates missing parents first sends a create that fails: After: 1
	// aims at the create that succeeds.
	After int
	// Times is how many requests to hit; 0 means 1, and -1 means all.
	Times int
	// Do is what to do to them.
	Do Action
	// Optional rules may hit no request. Any other rule fails the test of the
	// server if the test ends and the rule has hit none.
	Optional bool
	// Chance is how likely a rule of a [ChaosPlan] is to hit a request that
	// matches: 0 never, 1 always. Other rules have none.
	Chance float64
}

// Injection is a rule at work in a server.
type Injection struct {
	monitor *monitor
	rules   *rules // the cluster's, this one among them
	rule    Rule
	member  int // the member where it is at work; 0 for all there are
	done    chan struct{}
	err     error
	setAt   string // the file and line of the call of Inject

	// Guarded by the monitor.
	seen, hits int
}

func (r *Rule) check() error {
	if _, err := path.Match(r.Path, ""); err != nil {
		return fmt.Errorf("rule with the pattern %q: %w", r.Path, err)
	}
	switch {
	case r.Do.err != nil:
		return fmt.Errorf("rule: %w", r.Do.err)
	case r.Do.apply == nil:
		return errors.New("rule without Do")
	case r.Path != "" && (r.Op == wire.OpConnect || r.Op == wire.OpPing):
		return fmt.Errorf("rule with a path for %v, which has none", r.Op)
	case r.After < 0 || r.Times < -1:
		return fmt.Errorf("rule with After %d, Times %d", r.After, r.Times)
	case !(r.Chance >= 0 && r.Chance <= 1):
		return fmt.Errorf("rule with a chance of %v", r.Chance)
	}
	return nil
}

// Err returns what is wrong with the rule, or nil.
func (i *Injection) Err() error { return i.err }

// Remove takes the rule out of work. Requests that it has hit stay hit.
func (i *Injection) Remove() {
	i.monitor.mu.Lock()
	defer i.monitor.unlock()
	i.rules.removeLocked(i)
}

// Hits returns how many requests the rule has hit.
func (i *Injection) Hits() int {
	i.monitor.mu.Lock()
	defer i.monitor.mu.Unlock()
	return i.hits
}

// Done is closed when the rule has hit the last of its Times, just before the action.
// With Times -1, Done is never closed.
func (i *Injection) Done() <-chan struct{} { return i.done }

func (i *Injection) spentLocked() bool { return i.rule.Times > 0 && i.hits == i.rule.Times }

// hitLocked counts the request and reports whether the rule applies to it.
func (i *Injection) hitLocked(req *Request, paths func() []string) bool {
	if i.member != 0 && i.member != req.Member || !i.rule.matches(req, paths) {
		return false
	}
	i.seen++
	if i.seen <= i.rule.After {
		return false
	}
	i.hits++
	return true
}

// matches reports whether the rule is about the request. paths returns the
// paths that the request is about.
func (r *Rule) matches(req *Request, paths func() []string) bool {
	if !r.Op.Covers(req.Op) || r.Session != 0 && r.Session != req.Session {
		return false
	}
	return r.Path == "" || slices.ContainsFunc(paths(), func(p string) bool {
		matched, _ := path.Match(r.Path, p) // the pattern was checked by Inject
		return matched
	})
}

// rules are the rules of a cluster, in the order in which the test set them.
type rules struct {
	injections []*Injection            // at work
	unused     map[*Injection]struct{} // at work or removed, not [Rule.Optional], and without a hit
}

func (r *rules) addLocked(i *Injection) {
	r.injections = append(r.injections, i)
	if !i.rule.Optional {
		if r.unused == nil {
			r.unused = map[*Injection]struct{}{}
		}
		r.unused[i] = struct{}{}
	}
}

// unused describes the rules that should have hit a request, and have not.
func (c *cluster) unused() (list []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.rules.unused {
		list = append(list, fmt.Sprintf("%s: op %v, path %q, session %#x, %d matching requests, After %d",
			i.setAt, i.rule.Op, i.rule.Path, i.rule.Session, i.seen, i.rule.After))
	}
	slices.Sort(list)
	return list
}

func (r *rules) removeLocked(i *Injection) {
	r.injections = slices.DeleteFunc(r.injections, func(o *Injection) bool { return o == i })
}

// applyLocked asks every rule about the request, and adds what they want.
func (r *rules) applyLocked(f *faults, req *Request, paths func() []string) {
	for _, i := range slices.Clone(r.injections) {
		if !i.hitLocked(req, paths) {
			continue
		}
		delete(r.unused, i)
		i.rule.Do.apply(f)
		if i.spentLocked() {
			close(i.done)
			r.removeLocked(i)
		}
	}
}

// Inject puts a rule to work. If several rules hit the same request, all their actions
// apply. A rule with a malformed pattern, without an action, or with a refused action
// hits nothing: the rule fails the test of the server, and [Injection.Err] says what is
// wrong for a server of [Run].
func (s *Server) Inject(r Rule) *Injection { return s.inject(r, s.number()) }

// Inject puts a rule to work at every member; see [Server.Inject]. The members count
// its hits together.
func (e *Ensemble) Inject(r Rule) *Injection { return e.inject(r, 0) }

// inject puts a rule to work at a member, or with 0 at all there are.
func (c *cluster) inject(r Rule, member int) *Injection {
	if r.Times == 0 {
		r.Times = 1
	}
	_, file, line, _ := runtime.Caller(2) // the caller of Inject
	inj := &Injection{
		monitor: &c.monitor, rules: &c.rules, rule: r, member: member, done: make(chan struct{}),
		setAt: fmt.Sprintf("%s:%d", filepath.Base(file), line),
	}
	err := r.check()
	if err == nil && r.Chance != 0 {
		err = errors.New("rule with a chance outside a ChaosPlan")
	}
	if err != nil {
		inj.err = c.misuse("%w", err)
		return inj
	}
	c.mu.Lock()
	defer c.unlock()
	c.rules.addLocked(inj)
	return inj
}
