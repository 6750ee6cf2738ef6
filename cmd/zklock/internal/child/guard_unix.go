//go:build unix

package child

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

// guardName is the guard's name in the list of processes. By this name, the program
// knows that it has to be a guard.
const guardName = "zklock-guard"

// order is a message from this program to its guard.
type order struct {
	Start   *program      `json:",omitempty"` // start this
	Grace   time.Duration `json:",omitempty"` // see Command.Grace
	Termed  bool          `json:",omitempty"` // the grace has begun: see Command.Grace
	Ending  *ending       `json:",omitempty"` // from now on no process leaves the command
	Dismiss bool          `json:",omitempty"` // no process of the command is left
}

// program describes the command. Its texts may contain any bytes.
type program struct {
	Path       []byte
	Args, Env  [][]byte
	Foreground bool // the command gets the controlling terminal
}

// report is a message from the guard to this program. N depends on the kind.
type report struct {
	Kind reportKind
	N    int `json:",omitempty"`
}

type reportKind string

const (
	saysReady   reportKind = "ready"
	saysStarted reportKind = "started" // N is the command's id
	saysFailed  reportKind = "failed"  // N is the system's error
	saysStopped reportKind = "stopped" // N is the signal
	saysEnded   reportKind = "ended"   // N is the status, in the form of shells
	saysLeft    reportKind = "left"    // N is the session; see family
	saysAlone   reportKind = "alone"   // the guard has no descendants left
)

// event returns the event to which a course translates the report.
func (r report) event() event {
	switch {
	case r.Kind == saysStopped:
		return event{kind: commandStopped, sig: syscall.Signal(r.N)}
	case r.Kind == saysLeft:
		return event{kind: sessionLeft, n: r.N}
	case r.Kind == saysEnded:
		return event{kind: commandEnded, n: r.N}
	case r.Kind == saysAlone && adopts:
		return event{kind: guardAlone}
	}
	return event{kind: lookDue}
}

// guard is this program's end of the pipes to its guard. The guard reads until this
// program's end is closed, which the system does whenever this program dies.
type guard struct {
	proc     *ownChild
	began    uint64 // see startOf
	to, from *os.File
	reports  <-chan report // closed when the guard ends
}

// startGuard starts a guard for a command with these files. The guard does
// nothing until it gets an order.
func startGuard(files []*os.File) (*guard, error) {
	path, err := executable()
	if err != nil {
		return nil, err
	}
	g := &guard{}
	var orders, reports, null *os.File
	orders, g.to, err = os.Pipe()
	if err == nil {
		g.from, reports, err = os.Pipe()
	}
	if err == nil {
		null, err = os.OpenFile(os.DevNull, os.O_RDWR, 0)
	}
	if err == nil {
		err = g.spawn(path, append([]*os.File{orders, reports, null}, files...))
	}
	for _, end := range []*os.File{orders, reports, null} {
		end.Close() // the guard has its own copies; Close of a nil file only returns an error
	}
	if err != nil {
		g.close()
		return nil, err
	}
	g.reports = listen(g.from)
	return g, nil
}

func (g *guard) spawn(path string, files []*os.File) error {
	_, numbers, err := arrange(files)
	if err != nil {
		return err
	}
	ownGroup := &syscall.SysProcAttr{Setpgid: true} // keeps the terminal's signals from the guard
	g.proc, err = children.start(path, []string{guardName, asArgument(numbers)}, files, ownGroup)
	if err != nil {
		return err
	}
	if g.began, err = startOf(g.proc.pid); err != nil {
		g.proc.kill()
		<-g.proc.ended
	}
	return err
}

func (g *guard) close() {
	g.to.Close()
	g.from.Close()
}

// listen returns the guard's reports.
func listen(from *os.File) <-chan report {
	reports := make(chan report, 16)
	go func() {
		defer close(reports)
		for d := json.NewDecoder(from); ; {
			var r report
			if d.Decode(&r) != nil {
				return
			}
			reports <- r
		}
	}()
	return reports
}

// tell writes an order. tell ignores errors, because the death of the guard shows
// elsewhere.
func (g *guard) tell(o order) { _ = json.NewEncoder(g.to).Encode(o) }

// signal sends a signal to the guard. No other process can have the guard's id, because
// this program has not reaped the guard.
func (g *guard) signal(sig syscall.Signal) { _ = g.proc.proc.Signal(sig) }

// guardPatience is how long a dismissed guard may take to end. A stopped guard does not
// end by itself.
const guardPatience = 2 * time.Second

// dismiss ends the guard and waits for its end.
func (g *guard) dismiss() {
	g.tell(order{Dismiss: true})
	late := time.AfterFunc(guardPatience, g.proc.kill)
	for range g.reports { // the end of the guard closes the channel
	}
	<-g.proc.ended
	late.Stop()
	g.close()
}

// RunHelper must be the first call of main. In a guard, RunHelper never returns; in any
// other process, it does nothing.
func RunHelper() {
	if os.Args[0] != guardName || len(os.Args) != 2 {
		return
	}
	if files, err := takeFiles(os.Args[1]); err == nil {
		endure()
		adoptOrphans()
		beGuard(files)
	}
	exit()
}

// exit ends a guard. os.Exit would wait for a second in a program with the race
// detector.
func exit() { syscall.Exit(0) }

// endure makes a guard immune against all signals except SIGKILL and SIGSTOP. Ignored
// signals stay ignored, and the command inherits that; handled signals have their
// default in the command.
func endure() {
	dropped := make(chan os.Signal, 1)
	more := []os.Signal{syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU, syscall.SIGPIPE, syscall.SIGALRM}
	for _, sig := range append(more, Forwarded...) {
		if !signal.Ignored(sig) {
			signal.Notify(dropped, sig)
		}
	}
}

// guarding is the life of a guard: the command's parent.
type guarding struct {
	obedience
	orders  *json.Decoder
	reports *json.Encoder
	command int
	family  *family
	alone   chan struct{} // closed when this process has no descendants
}

// obedience is a guard's state about the program that it serves.
type obedience struct {
	grace  time.Duration
	termed bool
}

// heed notes an order, and reports whether the order was a dismissal.
func (o *obedience) heed(got order) (dismissed bool) {
	o.grace = max(o.grace, got.Grace)
	o.termed = o.termed || got.Termed
	return got.Dismiss
}

// patience is how long the command has after SIGTERM, now that the program has died.
func (o *obedience) patience() time.Duration {
	if o.termed {
		return 0
	}
	return o.grace
}

// beGuard is the life of a guard, until it is dismissed or its program has died.
func beGuard(files []*os.File) {
	// Linux sends the parent-death signal at the end of the thread.
	runtime.LockOSThread()
	g := &guarding{
		orders:  json.NewDecoder(os.Stdin),
		reports: json.NewEncoder(os.Stdout),
		alone:   make(chan struct{}),
	}
	g.tell(saysReady, 0)
	var o order
	for o.Start == nil {
		if g.orders.Decode(&o) != nil || g.heed(o) {
			return // the program has died, so the command must not start
		}
	}
	var err error
	g.command, err = launch(o.Start, files)
	letGo(files)
	if err != nil {
		g.tell(saysFailed, errnoOf(err))
		return
	}
	began, _ := startOf(g.command) // the command is an unreaped child of this process, so the read succeeds
	g.family = newFamily(g.command, os.Getpid(), began)
	g.tell(saysStarted, g.command)
	go g.obey()
	g.watch()
	<-make(chan struct{}) // obey ends this process
}

func (g *guarding) tell(kind reportKind, n int) { _ = g.reports.Encode(report{kind, n}) }

// launch starts the command. Like execvp(3), launch lets a shell run a script without
// "#!".
func launch(c *program, files []*os.File) (pid int, err error) {
	attr := &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(attr)
	if tty := openTerminal(); tty != nil && c.Foreground {
		defer tty.close()
		attr.Foreground, attr.Ctty = true, tty.fd
	}
	path, args, env := string(c.Path), texts(c.Args), texts(c.Env)
	pid, err = spawn(path, args, env, files, attr)
	if errors.Is(err, syscall.ENOEXEC) && isText(path) {
		pid, err = spawn(shell, append([]string{shell, path}, args[1:]...), env, files, attr)
	}
	return pid, err
}

const shell = "/bin/sh"

// isText reports whether a file may be a script. A program for another machine
// begins with bytes that no text has.
func isText(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	begin, err := io.ReadAll(io.LimitReader(f, 512))
	return err == nil && bytes.IndexByte(begin, 0) < 0
}

// letGo gives up everything that a guard has only passed on.
func letGo(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
	_ = os.Chdir("/") // a file system in use cannot be unmounted
}

func texts(raw [][]byte) []string {
	s := make([]string, len(raw))
	for i := range raw {
		s[i] = string(raw[i])
	}
	return s
}

func raw(texts []string) [][]byte {
	b := make([][]byte, len(texts))
	for i := range texts {
		b[i] = []byte(texts[i])
	}
	return b
}

// errnoOf returns the system's number of an error.
func errnoOf(err error) int {
	var number syscall.Errno
	if !errors.As(err, &number) {
		number = syscall.EINVAL
	}
	return int(number)
}

// watch waits for the command and all adopted processes, until none is left. It reports
// the ends in their order.
func (g *guarding) watch() {
	status, ended := 255, false // without a status if the command was reaped elsewhere
	flags := syscall.WUNTRACED
	for {
		pid, ws, err := g.wait(flags)
		switch {
		case errors.Is(err, syscall.EINTR):
		case pid == g.command && ws.Stopped():
			g.tell(saysStopped, int(ws.StopSignal()))
		case pid == g.command:
			status = statusOf(ws)
			flags |= syscall.WNOHANG
		case pid > 0:
		case !ended:
			ended = true
			g.family.forgetGroup()
			g.tell(saysEnded, status)
			flags &^= syscall.WNOHANG
		case err != nil:
			close(g.alone)
			g.tell(saysAlone, 0)
			return
		}
	}
}

// statusOf returns the status of an ended process, in the form of shells.
func statusOf(ws syscall.WaitStatus) int {
	if ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return ws.ExitStatus()
}

// obey carries out orders. If the orders end without a dismissal, the program has died.
func (g *guarding) obey() {
	for {
		var o order
		if g.orders.Decode(&o) != nil {
			break
		}
		if o.Ending != nil {
			g.family.beginAs(o.Ending)
		}
		if g.heed(o) {
			exit()
		}
	}
	g.family.end(g.patience(), g.alone)
	exit()
}
