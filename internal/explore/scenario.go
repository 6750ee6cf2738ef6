package explore

import (
	"sync/atomic"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// Scenario sets up a world: its actors and its checks. It is called at the beginning of
// each run, in a bubble of testing/synctest, and must do the same each time. The
// Scenario must create the state that actors share, so that no run sees another run's state.
type Scenario func(w *World)

// World is one run of a [Scenario]. Its methods are for the scenario, before it
// returns, unless their comments say otherwise. An actor may also call Always and
// AtEnd.
type World struct {
	members int
	lags    map[int]time.Duration // its keys are numbers of members
	begin   func(*Actor)          // or nil
	timeout time.Duration
	options []framework.Option
	nodes   [][2]string // path and data
	numbers map[string]int32

	server   *zktest.Server   // nil with an ensemble
	ensemble *zktest.Ensemble // nil with a single server
	actors   []*Actor
	sections []*Section
	stays    []string // paths below which ephemeral nodes and watches may stay
	always   []func(Tree) error
	atEnd    []func(Tree) error

	quietSince atomic.Int64 // a Unix time in nanoseconds

	queue   queue
	course  course
	faults  faults
	history hash // the requests and faults of the servers, and when
}

// Tree is the nodes on the server, by path.
type Tree map[string]zktest.Node

// Ensemble gives the world an ensemble of that many servers instead of one server.
func (w *World) Ensemble(members int) { w.members = members }

// Lag makes a member of the ensemble apply each transaction that much later than the
// leader makes it, until the actors have returned. The members are numbered from 1 on,
// and the last one is the leader at first. A leader that lags answers even a sync with
// old data. With Lag, the search causes no other faults of members.
func (w *World) Lag(member int, d time.Duration) {
	if w.lags == nil {
		w.lags = map[int]time.Duration{}
	}
	w.lags[member] = d
}

// Begin sets a function that is called for the first actor before any actor begins to
// play.
func (w *World) Begin(do func(first *Actor)) { w.begin = do }

// Node creates a node before the actors begin.
func (w *World) Node(path string, data string) { w.nodes = append(w.nodes, [2]string{path, data}) }

// Sequence sets the number that the next sequential child of a node gets, which
// [World.Node] creates. Use Sequence to test the end of the numbers.
func (w *World) Sequence(path string, next int32) {
	if w.numbers == nil {
		w.numbers = map[string]int32{}
	}
	w.numbers[path] = next
}

// SessionTimeout sets the timeout of the actors' sessions. The default is six
// seconds.
func (w *World) SessionTimeout(d time.Duration) { w.timeout = d }

// Stays allows an ephemeral node and its watches, or nodes and watches below it, to
// exist when all actors have returned, because closing the client removes them.
func (w *World) Stays(path string) { w.stays = append(w.stays, path) }

// Always adds a check after each move, when all goroutines wait. The check gets the
// present nodes on the server. An error fails the run.
func (w *World) Always(check func(Tree) error) { w.always = append(w.always, check) }

// ClientOptions adds options to the actors' clients.
func (w *World) ClientOptions(opts ...framework.Option) { w.options = append(w.options, opts...) }

// AtEnd adds a check for the end of the run, when all actors have returned, no fault
// has happened for some time, and the clients are still open. An error fails the run.
func (w *World) AtEnd(check func(Tree) error) { w.atEnd = append(w.atEnd, check) }

// Quiet returns the time since the last fault. It may be called at any time.
func (w *World) Quiet() time.Duration { return time.Since(time.Unix(0, w.quietSince.Load())) }

// Fail ends the run with a failure. Any goroutine of the run may call Fail, which
// returns.
func (w *World) Fail(format string, args ...any) { w.course.fail(format, args...) }
