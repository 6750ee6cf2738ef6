//go:build unix

package child

import (
	"encoding/json"
	"os"
	"time"
)

// outer is the outer guard: the parent of the inner one.
type outer struct {
	obedience
	family *family // nil before this guard knows the command
	inner  *ownChild
}

// beOuter is the life of the outer guard, until it is dismissed or its program
// has died. The first of its files is for the inner guard's orders.
func beOuter(files []*os.File) {
	g := &outer{}
	path, err := executable()
	if err != nil {
		return
	}
	g.inner, err = startGuard(path, innerRole, files[0], os.Stdout, files[1:])
	if err != nil {
		return
	}
	os.Stdout.Close() // the end of the events is the inner guard's
	letGo(files)
	endReaping := Adopt()
	orders := json.NewDecoder(os.Stdin)
	for {
		var o order
		if orders.Decode(&o) != nil {
			break
		}
		g.learn(o)
		if g.heed(o) {
			g.waitInner(guardPatience / 2)
			endReaping()
			exit()
		}
	}
	g.end()
}

// learn notes what an order says of the command.
func (g *outer) learn(o order) {
	switch {
	case o.Command != 0:
		g.family = newFamily(o.Command, os.Getpid(), g.inner.pid)
	case g.family == nil:
	case o.Ending != nil:
		g.family.beginAs(o.Ending)
	case o.Ended:
		g.family.forgetGroup()
	}
}

// waitInner waits for the end of the inner guard, and kills it after a time.
func (g *outer) waitInner(patience time.Duration) {
	select {
	case <-g.inner.ended:
	case <-time.After(patience):
		g.inner.kill()
		<-g.inner.ended
	}
}

// end ends the command when the program has died. That is the inner guard's
// duty. If that has died, too, or does not do it in time, this one does.
func (g *outer) end() {
	const slack = 50 * time.Millisecond // for the inner guard's own kill
	patience := g.patience()
	isLate := false
	select {
	case <-g.inner.ended:
	default:
		select {
		case <-g.inner.ended:
		case <-time.After(patience + slack):
			isLate = true
		}
		patience = 0
	}
	if !isLate && g.inner.well {
		return
	}
	f := g.family
	if f == nil { // this guard was not told of the command any more, and knows no group
		f = newFamily(0, os.Getpid(), g.inner.pid)
	}
	if !isLate {
		f.gather()
	}
	f.end(patience, nil)
	g.inner.kill()
}
