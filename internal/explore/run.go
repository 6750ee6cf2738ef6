package explore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

const (
	// patience is how long the actors may wait, in virtual time, without a new fault.
	patience = 2 * time.Minute

	// maxSteps bounds a run that does not come to rest.
	maxSteps = 5_000

	defaultTimeout = 6 * time.Second
)

// result is the outcome of a run.
type result struct {
	Steps   []step
	Failure string   // "" if there is none
	Story   []string // nil without a failure
}

// lacks returns the choices that did not exist in the run.
func (r result) lacks(c choices) (lacking choices) {
	for _, d := range c {
		if d.Step >= len(r.Steps) || d.Move >= r.Steps[d.Step].Moves {
			lacking = append(lacking, d)
		}
	}
	return lacking
}

// run plays a scenario once, with these deviations. tell, unless nil, receives each
// line of the story at once.
func run(t *testing.T, s Scenario, c choices, tell func(string)) (r result) {
	w := &World{timeout: defaultTimeout}
	w.course.choices, w.course.tell = c, tell
	defer func() {
		if p := recover(); p != nil { // the bubble panics if goroutines are left
			w.course.fail("%v", p)
			w.course.note(bubbledGoroutines())
		}
		r.Steps = w.course.steps
		if w.course.failed() {
			r.Failure, r.Story = strings.Join(w.course.failures, "; "), w.course.story
		}
	}()
	seed(t)
	synctest.Test(t, func(t *testing.T) { w.play(s) })
	if t.Failed() { // by an actor that asks t, or by the race detector
		w.course.fail("the test has failed in the process that plays")
	}
	return r
}

// play is a run within its bubble.
func (w *World) play(s Scenario) {
	w.queue.free, w.queue.wake = true, make(chan struct{}, 1)
	s(w)
	if err := w.open(); err != nil {
		w.Fail("%v", err)
	} else {
		w.explore()
		w.settle()
	}
	w.close()
}

// open starts the servers and connects the clients. The search begins after
// that.
func (w *World) open() error {
	scheduler := zkinside.With(zkinside.Settings{Schedule: w.schedule}).(zktest.Option)
	if w.members > 1 {
		ens, err := zktest.RunEnsemble(w.members, scheduler)
		if err != nil {
			return err
		}
		w.ensemble = ens
	} else {
		srv, err := zktest.Run(scheduler)
		if err != nil {
			return err
		}
		w.server = srv
	}
	for _, n := range w.nodes {
		if err := w.create(n[0], n[1]); err != nil {
			return err
		}
	}
	for path, next := range w.numbers {
		if err := zkinside.Of(w.ahead()).SetSequence(path, next); err != nil {
			return err
		}
	}
	for _, a := range w.actors {
		a.host = w.newHost()
	}
	w.beginLags()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for i, a := range w.actors {
		if err := a.connect(ctx, w.address(i)); err != nil {
			return err
		}
		synctest.Wait()
	}
	return nil
}

// create makes a node.
func (w *World) create(path, data string) error {
	if w.ensemble != nil {
		return w.ensemble.Leader().Create(path, []byte(data))
	}
	return w.server.Create(path, []byte(data))
}

func (w *World) newHost() *zktest.Host {
	if w.ensemble != nil {
		return w.ensemble.NewHost()
	}
	return w.server.NewHost()
}

// address is the connect string of actor i. In an ensemble each begins at
// another member.
func (w *World) address(i int) string {
	if w.ensemble == nil {
		return w.server.Addr()
	}
	all := strings.Split(w.ensemble.ConnectString(), ",")
	i %= len(all)
	return strings.Join(slices.Concat(all[i:], all[:i]), ",")
}

// zktest calls schedule for each message.
func (w *World) schedule(m *zkinside.Message) {
	i := slices.IndexFunc(w.actors, func(a *Actor) bool { return any(a.host) == m.Host })
	if i < 0 || requestOf(m).Op == zkinside.OpPing {
		m.Deliver(nil)
		return
	}
	a := w.actors[i]
	w.queue.add(&item{
		actor: a, message: m, text: describe(a.name, m), arrive: func() { m.Deliver(nil) },
		lane: lane{a, m.Member, m.Conn, !isRequest(m)},
	})
}

// explore plays until all actors have returned and nothing is under way.
func (w *World) explore() {
	w.queue.mu.Lock()
	w.queue.free = false
	w.queue.mu.Unlock()
	if w.begin != nil {
		w.begin(w.actors[0])
	}
	for _, a := range w.actors {
		a.begin()
		synctest.Wait()
	}
	w.quietSince.Store(time.Now().UnixNano())
	for !w.course.failed() {
		synctest.Wait()
		w.queue.settle()
		w.check()
		if len(w.course.steps) > maxSteps {
			w.Fail("the run does not come to rest")
			return
		}
		moves := w.moves()
		if moves == nil {
			if w.allDone() && len(w.queue.ready()) == 0 {
				return
			}
			if w.Quiet() > patience {
				w.Fail("%s", w.stuck())
				return
			}
			moves = append([]move{{text: "time passes", do: w.pass}}, w.quietMoves()...)
		}
		made := w.course.next(w.state(), moves)
		if made.text != moves[0].text {
			w.quietSince.Store(time.Now().UnixNano())
			if !made.orders {
				w.remember(made.text)
			}
		}
		made.do()
	}
}

// pass lets time pass until an item is under way, or a fault ends.
func (w *World) pass() {
	limit := w.queue.nextDue(w.repairDue(patience + time.Second))
	select {
	case <-w.queue.wake: // an old signal
	default:
	}
	after := time.NewTimer(limit)
	defer after.Stop()
	select {
	case <-w.queue.wake:
	case <-after.C:
	}
}

// check checks the conditions that must hold at any time.
func (w *World) check() {
	for _, s := range w.sections {
		s.check()
	}
	for _, check := range w.always {
		if err := check(w.tree()); err != nil {
			w.Fail("%v", err)
		}
	}
	for _, a := range w.actors {
		if text := a.overdue(); text != "" {
			w.Fail("%s: %s", a.name, text)
		}
	}
}

func (w *World) allDone() bool {
	return !slices.ContainsFunc(w.actors, func(a *Actor) bool { return !a.isDone() })
}

// stuck names the actors that have not finished.
func (w *World) stuck() string {
	var who []string
	for _, a := range w.actors {
		if !a.isDone() {
			who = append(who, fmt.Sprintf("%s (%s)", a.name, strings.Join(a.awaits(), ", ")))
		}
	}
	return "still waiting after " + patience.String() + ": " + strings.Join(who, ", ")
}

// state identifies the state of the run: the messages that each actor has received, the
// items under way, and the time.
func (w *World) state() hash {
	var h hash
	h.addUint(uint64(time.Now().UnixNano()))
	h.addUint(uint64(w.history))
	for _, a := range w.actors {
		a.mu.Lock()
		h.addUint(uint64(a.history))
		for _, c := range a.calls {
			h.add(c.name)
			if c.cause != nil {
				h.add(c.cause.Error())
			}
		}
		a.mu.Unlock()
	}
	w.queue.texts(h.add)
	return h
}

// settle ends all faults, gives all actors time, and checks what is left behind.
func (w *World) settle() {
	w.course.end()
	w.repairAll()
	w.queue.release()
	for _, a := range w.actors {
		for _, c := range a.endable() { // a failed run leaves calls
			a.endCall(c, context.Canceled)
		}
	}
	<-time.After(3 * w.timeout) // by then, the nodes of lost sessions are gone
	synctest.Wait()
	if w.course.failed() {
		return
	}
	for _, check := range w.atEnd {
		if err := check(w.tree()); err != nil {
			w.Fail("at the end: %v", err)
		}
	}
	synctest.Wait()
	w.checkLeft()
}

// tree returns the nodes on the server, or on the most advanced of several servers.
func (w *World) tree() Tree {
	tree := Tree{}
	for _, n := range w.ahead().Tree() {
		tree[n.Path] = n
	}
	return tree
}

// ahead returns the server with the newest transaction.
func (w *World) ahead() *zktest.Server {
	return slices.MaxFunc(w.servers(),
		func(a, b *zktest.Server) int { return cmp.Compare(a.Stats().Zxid, b.Stats().Zxid) })
}

// servers returns the server, or all members of the ensemble.
func (w *World) servers() (all []*zktest.Server) {
	if w.ensemble == nil {
		return []*zktest.Server{w.server}
	}
	for _, m := range w.ensemble.Members() {
		all = append(all, m.Server)
	}
	return all
}

// close closes the clients and the servers, and checks what is left behind.
func (w *World) close() {
	w.queue.release()
	for _, a := range w.actors {
		if a.client != nil {
			a.Close()
			_ = a.client.Close() // waits for the first Close
		}
	}
	synctest.Wait()
	if !w.course.failed() {
		w.checkSessions()
	}
	switch {
	case w.ensemble != nil:
		_ = w.ensemble.Close()
	case w.server != nil:
		_ = w.server.Close()
	}
}
