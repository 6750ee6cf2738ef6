package main

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"os/signal"

	"github.com/gocurator/curator/cmd/zklock/internal/child"
	"github.com/gocurator/curator/framework"
)

// host is the program's access to its machine: processes, signals and a network. Tests
// use a host inside a bubble.
type host struct {
	dial  framework.DialFunc
	start func(child.Command) (process, error)
	// prepare is called before a lock is held for a command, and stop after it.
	prepare func() (stop func())
	parent  int
	ended   func(pid int) <-chan struct{} // closed when a process has ended
	tells   func(in io.Reader) bool       // the end of this input ends a hold
	notify  func(chan<- os.Signal, ...os.Signal)
	forget  func(chan<- os.Signal)
}

// process is a running command: a child.Process.
type process interface {
	Exited() <-chan struct{}
	Gone() <-chan struct{}
	Refused() <-chan int
	Status() int
	GuardDied() bool

	Signal(os.Signal)
	Terminate()
	Kill()
}

// thisHost returns the machine.
func thisHost() host {
	return host{
		dial: new(net.Dialer).DialContext, start: startChild, prepare: child.Prepare,
		parent: os.Getppid(), ended: child.Ended, tells: isPipe, notify: notify, forget: signal.Stop,
	}
}

func startChild(c child.Command) (process, error) {
	if c.Stdin == nil || c.Stdout == nil || c.Stderr == nil {
		return nil, errors.New("the standard files cannot be passed on")
	}
	p, err := child.Start(c)
	if err != nil {
		return nil, err // not a process that is a nil pointer
	}
	return p, nil
}

// notify is signal.Notify for signals that are not ignored: under nohup(1), neither the
// program nor its child receives hangups.
func notify(c chan<- os.Signal, sigs ...os.Signal) {
	for _, sig := range sigs {
		if !signal.Ignored(sig) {
			signal.Notify(c, sig)
		}
	}
}

// isPipe reports whether an input is a pipe or a socket. The end of any other file has
// no meaning: a service often reads /dev/null, which ends at once.
func isPipe(in io.Reader) bool {
	f, ok := in.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) != 0
}
