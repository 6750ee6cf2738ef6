//go:build unix

package child

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"runtime"
	"syscall"
)

// inner is the inner guard: the command's parent.
type inner struct {
	obedience
	orders  *json.Decoder
	events  *json.Encoder
	command int
	family  *family
	alone   chan struct{} // closed when there is nothing below this process
}

// beInner is the life of the inner guard, until it is dismissed or its program
// has died.
func beInner(files []*os.File) {
	// Linux sends the parent-death signal at the end of the thread.
	runtime.LockOSThread()
	g := &inner{
		orders: json.NewDecoder(os.Stdin),
		events: json.NewEncoder(os.Stdout),
		alone:  make(chan struct{}),
	}
	g.tell(guardReady, os.Getpid())
	var o order
	for o.Start == nil {
		if g.orders.Decode(&o) != nil || g.heed(o) {
			return // the command is not to start any more
		}
	}
	var err error
	g.command, err = launch(o.Start, files)
	letGo(files)
	if err != nil {
		g.tell(commandFailed, errnoOf(err))
		return
	}
	g.family = newFamily(g.command, os.Getpid())
	g.tell(commandStarted, g.command)
	go g.obey()
	g.watch()
	<-make(chan struct{}) // obey ends this process
}

func (g *inner) tell(kind eventKind, n int) { _ = g.events.Encode(event{kind, n}) }

// launch starts the command. The system does not run a script without "#!": a
// shell does, as below execvp(3).
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

// watch waits for the command and for all that this process adopts, until there
// is nothing left. What had ended before the command is told before it.
func (g *inner) watch() {
	status, ended := 255, false // if somebody else has reaped it, there is no status
	flags := syscall.WUNTRACED
	for {
		pid, ws, err := g.wait(flags)
		switch {
		case errors.Is(err, syscall.EINTR):
		case pid == g.command && ws.Stopped():
			g.tell(commandStopped, int(ws.StopSignal()))
		case pid == g.command:
			status = statusOf(ws)
			flags |= syscall.WNOHANG
		case pid > 0:
		case !ended:
			ended = true
			g.family.forgetGroup()
			g.tell(commandEnded, status)
			flags &^= syscall.WNOHANG
		case err != nil:
			close(g.alone)
			g.tell(guardAlone, 0)
			return
		}
	}
}

// statusOf returns the status of a process that has ended, as shells have it.
func statusOf(ws syscall.WaitStatus) int {
	if ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return ws.ExitStatus()
}

// obey carries out orders. Without a dismissal their end is the death of the
// program.
func (g *inner) obey() {
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
