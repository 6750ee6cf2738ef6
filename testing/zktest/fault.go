package zktest

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// Rule aims an [Action] at requests. A field that is zero does not restrict the
// rule: one with nothing but Do hits the next request that is neither a ping
// nor a handshake.
type Rule struct {
	// Op is the type of request; see [Op] for the ones that cover several.
	// OpAny matches everything but pings and handshakes, which have to be asked
	// for by OpPing and OpConnect.
	Op Op
	// Path is a pattern as in [path.Match] for the path the request is about,
	// or for one of the paths of a multi; "" matches every request. For a
	// sequential create it is the path the client asked for, without the
	// number. The nodes of a lock at /locks/x have a random id in front, as in
	// /locks/x/_c_<id>-lock-0000000000: the pattern for them is /locks/x/*.
	Path string
	// Session is the session that sends the request, 0 for any. For a handshake
	// it is the session the client wants to take up again.
	Session int64
	// After is how many matching requests to let through first. A client that
	// creates missing parents tries first without: the create whose parents
	// are missing fails, and only the next one succeeds. After: 1 aims at that.
	After int
	// Times is how many requests to hit; 0 means 1, and -1 means all.
	Times int
	// Do is what to do to them.
	Do Action
}

// Injection is a rule at work in a server.
type Injection struct {
	cluster *cluster
	servers []*Server // where it is at work
	rule    Rule
	done    chan struct{}
	err     error

	// Guarded by cluster.mu.
	seen, hits int
}

// Inject puts a rule to work. Several rules may hit the same request; then all
// of their actions apply. A rule with a malformed pattern, or with an action
// that is missing or makes no sense, hits nothing: it fails the test of the
// server, and [Injection.Err] says what is wrong for a server of [Run].
func (s *Server) Inject(r Rule) *Injection { return s.inject(r, s) }

// Inject puts a rule to work at every member. They count together: see
// [Server.Inject].
func (e *Ensemble) Inject(r Rule) *Injection { return e.inject(r, e.servers()...) }

func (c *cluster) inject(r Rule, servers ...*Server) *Injection {
	if r.Times == 0 {
		r.Times = 1
	}
	inj := &Injection{cluster: c, servers: servers, rule: r, done: make(chan struct{})}
	if err := r.check(); err != nil {
		inj.err = c.misuse("%w", err)
		return inj
	}
	c.mu.Lock()
	defer c.unlock()
	for _, s := range servers {
		s.injections = append(s.injections, inj)
	}
	return inj
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
	}
	return nil
}

// Err returns what is wrong with the rule, or nil.
func (i *Injection) Err() error { return i.err }

// Remove takes the rule out of work. Requests that it has hit stay hit.
func (i *Injection) Remove() {
	i.cluster.mu.Lock()
	defer i.cluster.unlock()
	i.removeLocked()
}

func (i *Injection) removeLocked() {
	for _, s := range i.servers {
		s.injections = slices.DeleteFunc(s.injections, func(o *Injection) bool { return o == i })
	}
}

// Hits returns how many requests the rule has hit.
func (i *Injection) Hits() int {
	i.cluster.mu.Lock()
	defer i.cluster.mu.Unlock()
	return i.hits
}

// Done is closed when the rule has hit the last of its Times; at that moment
// the action is only about to happen. With Times -1 it is never closed.
func (i *Injection) Done() <-chan struct{} { return i.done }

// hitLocked counts the request and reports whether the rule applies to it.
func (i *Injection) hitLocked(x *exchange) bool {
	if !i.rule.matches(x) {
		return false
	}
	i.seen++
	if i.seen <= i.rule.After {
		return false
	}
	i.hits++
	return true
}

func (i *Injection) spentLocked() bool { return i.rule.Times > 0 && i.hits == i.rule.Times }

func (r *Rule) matches(x *exchange) bool {
	if !r.Op.Covers(x.req.Op) || r.Session != 0 && r.Session != x.req.Session {
		return false
	}
	if r.Path == "" {
		return true
	}
	paths := []string{x.req.Path}
	if m, isMulti := x.op.(interface{ targets() []string }); isMulti {
		paths = m.targets()
	}
	return slices.ContainsFunc(paths, func(p string) bool {
		matched, _ := path.Match(r.Path, p) // the pattern was checked by Inject
		return matched
	})
}

// faults is everything that the rules want done to one request.
type faults struct {
	delayRequest, delayReply  time.Duration
	holdRequest               time.Duration
	callBefore, callAfter     []func(Request)
	fail                      wire.Code
	dropRequest, dropReply    bool
	blackhole, blackholeReply bool
	reset                     bool
}

// faultsForLocked asks every rule about the request.
func (s *Server) faultsForLocked(x *exchange) (f faults) {
	for _, inj := range slices.Clone(s.injections) {
		if !inj.hitLocked(x) {
			continue
		}
		inj.rule.Do.apply(&f)
		if inj.spentLocked() {
			close(inj.done)
			inj.removeLocked()
		}
	}
	if s.sim != nil {
		s.sim.applyFaultsLocked(&f, x)
	}
	return f
}

// delaysRequest reports whether there is something to do before the request
// that cannot be done with the server locked.
func (f *faults) delaysRequest() bool { return f.delayRequest > 0 || len(f.callBefore) > 0 }

// before reports false if the connection ended meanwhile.
func (f *faults) before(done <-chan struct{}, req Request) bool {
	if !sleep(f.delayRequest, done) {
		return false
	}
	for _, call := range f.callBefore {
		call(req)
	}
	return true
}

func (f *faults) after(req Request) {
	for _, call := range f.callAfter {
		call(req)
	}
}

// replyTime is the time before which the answer must not go out. It counts from
// the request and not from the answer before it, so that the answers to
// requests sent together arrive together, as over a slow line.
func (f *faults) replyTime() time.Time {
	if f.delayReply <= 0 {
		return time.Time{}
	}
	return time.Now().Add(f.delayReply)
}
