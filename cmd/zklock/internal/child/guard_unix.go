//go:build unix

package child

import (
	"encoding/json"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// guardName is the guards' name in the list of processes, and how the program
// knows that it is meant to be one.
const guardName = "zklock-guard"

// The two guards; see the package.
const (
	outerRole = "outer"
	innerRole = "inner"
)

// order is what this program tells a guard.
type order struct {
	Start   *program      `json:",omitempty"` // for the inner guard: start this
	Command int           `json:",omitempty"` // for the outer guard: the inner one has started this
	Grace   time.Duration `json:",omitempty"` // see Command.Grace
	Termed  bool          `json:",omitempty"` // the grace has begun: see Command.Grace
	Ending  *ending       `json:",omitempty"` // nobody leaves the command any more
	Ended   bool          `json:",omitempty"` // for the outer guard: the command has ended
	Dismiss bool          `json:",omitempty"` // nothing of the command is left
}

// program is the command. Text may have any bytes in it.
type program struct {
	Path       []byte
	Args, Env  [][]byte
	Foreground bool // it gets the controlling terminal
}

// event is what the inner guard tells this program. N depends on the kind.
type event struct {
	Kind eventKind
	N    int `json:",omitempty"`
}

type eventKind string

const (
	guardReady     eventKind = "ready"   // N is the inner guard's id
	commandStarted eventKind = "started" // N is the command's id
	commandFailed  eventKind = "failed"  // N is the system's error
	commandStopped eventKind = "stopped" // N is the signal
	commandEnded   eventKind = "ended"   // N is the status, as shells have it
	sessionLeft    eventKind = "left"    // N is the session; see family
	guardAlone     eventKind = "alone"   // nothing is left below the inner guard
)

// guards is this program's end of the pipes to its guards. A guard reads until
// the other end is closed, which the system does however this program dies.
type guards struct {
	proc             *ownChild // the outer one
	toOuter, toInner *os.File
	fromInner        *os.File
	events           <-chan event // closed at the end of the inner guard
	inner            int          // its id
	innerProc        *os.Process  // nil before its id is known
	isTermed         bool         // they know: see Command.Grace
	isEnding         bool         // they know: see family
}

// startGuards starts both guards, which do nothing until they get an order. It
// returns when they are there.
func startGuards(files []*os.File) (*guards, error) {
	path, err := executable()
	if err != nil {
		return nil, err
	}
	var forOuter, forInner, events *os.File
	g := &guards{}
	forOuter, g.toOuter, err = os.Pipe()
	if err == nil {
		forInner, g.toInner, err = os.Pipe()
	}
	if err == nil {
		g.fromInner, events, err = os.Pipe()
	}
	if err == nil {
		g.proc, err = startGuard(path, outerRole, forOuter, events, append([]*os.File{forInner}, files...))
	}
	for _, end := range []*os.File{forOuter, forInner, events} {
		end.Close() // the guards have them; Close of nil is an error, and no more
	}
	if err != nil {
		g.close()
		return nil, err
	}
	g.events = listen(g.fromInner)
	return g, nil
}

// startGuard starts a guard that reads orders, writes events, and has further
// files.
func startGuard(path, role string, orders, events *os.File, files []*os.File) (*ownChild, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	files = append([]*os.File{orders, events, null}, files...)
	_, numbers, err := arrange(files)
	if err != nil {
		return nil, err
	}
	ownGroup := &syscall.SysProcAttr{Setpgid: true} // the terminal's signals are not for it
	return children.start(path, []string{guardName, role, asArgument(numbers)}, files, ownGroup)
}

func (g *guards) close() {
	for _, f := range []*os.File{g.toOuter, g.toInner, g.fromInner} {
		f.Close()
	}
	if g.innerProc != nil {
		_ = g.innerProc.Release()
	}
}

// listen returns what the inner guard tells.
func listen(from *os.File) <-chan event {
	events := make(chan event, 16)
	go func() {
		defer close(events)
		for d := json.NewDecoder(from); ; {
			var e event
			if d.Decode(&e) != nil {
				return
			}
			events <- e
		}
	}()
	return events
}

// tell writes an order. A guard that has died is no error: the other one is
// there, and its death shows in another way.
func tell(f *os.File, o order) { _ = json.NewEncoder(f).Encode(o) }

func (g *guards) tellBoth(o order) {
	tell(g.toInner, o)
	tell(g.toOuter, o)
}

// ending tells the guards, once, that the end of the family has begun.
func (g *guards) ending(f *family) {
	if !g.isEnding {
		g.isEnding = true
		g.tellBoth(order{Ending: f.howItEnds()})
	}
}

// termed tells the guards, once, that the grace has begun.
func (g *guards) termed() {
	if !g.isTermed {
		g.isTermed = true
		g.tellBoth(order{Termed: true})
	}
}

// guardPatience is how long a guard that was dismissed may take to end. One
// that somebody has stopped does not.
const guardPatience = 2 * time.Second

// dismiss ends the guards and waits for their end.
func (g *guards) dismiss() {
	g.tellBoth(order{Dismiss: true})
	late := time.AfterFunc(guardPatience, func() {
		g.killInner()
		g.fromInner.Close() // if it has not told its id, nobody waits for it
	})
	for range g.events { // the inner guard's end closes the channel
	}
	late.Stop()
	late = time.AfterFunc(guardPatience, g.proc.kill)
	<-g.proc.ended
	late.Stop()
	g.close()
}

// meetInner notes who the inner guard is. The system gives its id to another process
// when it has ended, and the outer guard has waited for it. So signals go to what is
// there now: on Linux since 5.4, os.FindProcess holds on to it by a pidfd.
func (g *guards) meetInner(pid int) {
	g.inner = pid
	g.innerProc, _ = os.FindProcess(pid) // never fails on Unix
}

// signalInner sends a signal to the inner guard, if its id is known.
func (g *guards) signalInner(sig syscall.Signal) {
	if g.innerProc != nil {
		_ = g.innerProc.Signal(sig) // an error says that it has ended
	}
}

func (g *guards) killInner() { g.signalInner(syscall.SIGKILL) }

// RunHelper must be the first call of main. It is the whole life of a process
// that is a guard, and does nothing in any other.
func RunHelper() {
	if os.Args[0] != guardName || len(os.Args) != 3 {
		return
	}
	files, err := takeFiles(os.Args[2])
	if err != nil {
		return
	}
	endure()
	adoptOrphans()
	switch os.Args[1] {
	case outerRole:
		beOuter(files)
	case innerRole:
		beInner(files)
	}
	exit()
}

// exit ends a guard. os.Exit would wait for a second in a program with the race
// detector.
func exit() { syscall.Exit(0) }

// endure has nothing end or stop a guard but the program that it guards, and
// SIGKILL. Signals that are ignored stay so, for the command to inherit, and
// those that are handled have their default in the command.
func endure() {
	dropped := make(chan os.Signal, 1)
	more := []os.Signal{syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU, syscall.SIGPIPE, syscall.SIGALRM}
	for _, sig := range append(more, Forwarded...) {
		if !signal.Ignored(sig) {
			signal.Notify(dropped, sig)
		}
	}
}

// letGo gives up what a guard has only had to pass on.
func letGo(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
	_ = os.Chdir("/") // nobody can unmount a file system that is in use
}

// errnoOf returns the system's number of an error.
func errnoOf(err error) int {
	var number syscall.Errno
	if !errors.As(err, &number) {
		number = syscall.EINVAL
	}
	return int(number)
}

// obedience is what a guard knows of the program that it guards.
type obedience struct {
	grace  time.Duration
	termed bool
}

// heed notes an order. It reports whether it was the last one.
func (o *obedience) heed(got order) (dismissed bool) {
	o.grace = max(o.grace, got.Grace)
	o.termed = o.termed || got.Termed
	return got.Dismiss
}

// patience is how long the command has from SIGTERM on, now that the program
// has died.
func (o *obedience) patience() time.Duration {
	if o.termed {
		return 0
	}
	return o.grace
}
