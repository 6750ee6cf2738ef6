package explore

import (
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// Scenario sets a world up: its actors, and what must be true. It is called at
// the beginning of each run, in a bubble of testing/synctest, and must do the
// same each time. Whatever it shares between actors it has to make anew.
type Scenario func(w *World)

// World is one run of a [Scenario]. Its methods are for the scenario, before it
// returns, but for those that say otherwise.
type World struct {
	members int
	timeout time.Duration
	options []framework.Option
	nodes   [][2]string // path and data

	server   *zktest.Server   // nil with an ensemble
	ensemble *zktest.Ensemble // nil with a single server
	actors   []*Actor
	sections []*Section
	atEnd    []func(Tree) error
	traps    []*trap

	queue  queue
	course course
	faults faults
}

// Tree is what is left on the server at the end of a run, by path.
type Tree map[string]zktest.Node

// Ensemble gives the world that many servers instead of one.
func (w *World) Ensemble(members int) { w.members = members }

// Node makes a node that is there before the actors come.
func (w *World) Node(path string, data string) { w.nodes = append(w.nodes, [2]string{path, data}) }

// SessionTimeout sets the timeout of the actors' sessions. The default is six
// seconds.
func (w *World) SessionTimeout(d time.Duration) { w.timeout = d }

// ClientOptions adds options to the actors' clients.
func (w *World) ClientOptions(opts ...framework.Option) { w.options = append(w.options, opts...) }

// AtEnd adds a check for the end of the run, when all actors have returned,
// nothing has gone wrong for some time, and the clients are still open. An error
// fails the run.
func (w *World) AtEnd(check func(Tree) error) { w.atEnd = append(w.atEnd, check) }

// Fail ends the run with a failure. It may be called from any goroutine of the
// run, and returns.
func (w *World) Fail(format string, args ...any) { w.course.fail(format, args...) }

// Trap returns a function to call in a callback of the scenario, such as a codec
// or a hook. It panics when the search wants that, which is a deviation, and
// else does nothing.
func (w *World) Trap(name string) func() {
	t := &trap{name: name, asked: -1}
	w.traps = append(w.traps, t)
	return t.step
}
