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

// Rule applies an [Action] to requests. A field that is zero does not restrict the
// rule: a rule that has only Do hits the next request, except pings and handshakes.
type Rule struct {
	// Op is the type of request; some values of [Op] cover several types. OpAny
	// matches everything except pings and handshakes, which need a rule with Op(11) or
	// OpConnect.
	Op Op
	// Path is a pattern as in [path.Match] for the path of the request, or for one of
	// the paths of a multi. An empty Path matches every request. A sequential create
	// has the path in the request, without the number. The nodes of a lock at /locks/x
	// begin with a random id, as in /locks/x/_c_<id>-lock-0000000000: the pattern
	// /locks/x/* matches them.
	Path string
	// Session is the session that sends the request, or 0 for any session. For a
	// handshake, it is the session that the client wants to continue.
	Session int64
	// After is how many matching requests the rule lets through first. A client that
	// creates missing parents usually tries without parents first: that create fails,
	// and the second create succeeds. A rule with After: 1 hits the second create.
	After int
	// Times is how many requests the rule hits; 0 means 1, and -1 means all.
	Times int
	// Do is the action on the requests.
	Do Action
	// Optional allows the rule to hit no request. Without Optional, a rule that has hit
	// no request fails the test of the server at the end.
	Optional bool
	// Chance is the probability with which a rule of a [ChaosPlan] hits a matching
	// request: 0 is never, and 1 is always. For a rule of Inject, it must be 0.
	Chance float64
}

// Injection is a rule that is active in a server.
type Injection struct {
	monitor *monitor
	rules   *rules // all rules of the cluster
	rule    Rule
	member  int // the member in which the rule is active; 0 for all members
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

// Err returns why the rule is invalid, or nil.
func (i *Injection) Err() error { return i.err }

// Remove deactivates the rule. The action on requests that were already hit continues.
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

// Done is closed when the rule has hit the last of its Times. The action follows a moment
// later. With Times -1, Done is never closed.
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

// matches reports whether the rule matches the request. The function paths returns the
// paths of the request.
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
	injections []*Injection            // the active rules
	unused     map[*Injection]struct{} // active or removed rules that are not [Rule.Optional] and have no hit
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

// unused describes the rules that should have hit a request, but have not.
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

// applyLocked adds the faults of all rules that hit the request.
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

// Inject activates a rule. If several rules hit the same request, all their actions
// apply. A rule with a malformed pattern, or with a missing or invalid action, hits
// nothing and fails the test of the server. For a server of [Run], [Injection.Err]
// returns the reason.
func (s *Server) Inject(r Rule) *Injection { return s.inject(r, s.number()) }

// Inject activates a rule in every member; see [Server.Inject]. After and Times count the
// requests to all members together.
func (e *Ensemble) Inject(r Rule) *Injection { return e.inject(r, 0) }

// inject activates a rule in a member, or in all members if the argument is 0.
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
