package main

import (
	"fmt"
	"strconv"
)

// parentFlag is the process with which a hold ends. Without the flag that is the
// parent of zklock, if standard input cannot tell when the hold is over: a script
// that starts zklock in the background, and is killed, leaves no lock.
type parentFlag struct {
	pid   int
	given bool
}

func (p *parentFlag) String() string { return "" }

// Set implements flag.Value.
func (p *parentFlag) Set(text string) error {
	pid, err := strconv.Atoi(text)
	if err != nil || pid < 0 {
		return fmt.Errorf("%q is no process id", text)
	}
	p.pid, p.given = pid, true
	return nil
}

// of returns the id of the process, or 0 for none. The first process of a system
// or a container does not end before zklock does.
func (p *parentFlag) of(e *env) int {
	switch {
	case p.given:
		return p.pid
	case e.tells(e.in) || e.parent == 1:
		return 0
	}
	return e.parent
}
