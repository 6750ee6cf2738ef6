package lockloop

import (
	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
)

// Beside is a list of other nodes that comes with a contender's node: of the places
// behind a gate. It saves a round trip. It is there only if the list of the queue
// that came with it has admitted the contender.
//
// Then it shows what all have done that were ahead. The three requests go over one
// connection, and its server carries them out in order: our creation, the list of the
// queue, this list. All that were ahead had come before our node was made. The second
// list shows the creation, so whoever is not in it has gone by then, and has taken
// places before that. This one comes behind it, and shows at least as much. So
// neither the server nor its leader has to be up to date. What this one misses is
// younger than the grant, and nobody takes places as long as our node is there.
//
// If somebody was ahead, or the queue had to be looked at again, this list is older
// than the grant: the one ahead may have taken places since. So it is where numbers
// are used up, as the nodes are read behind this list then.
type Beside struct {
	Path string // of the parent

	read framework.SiblingsRead
}

// alsoList asks for the list with the creation of our node. It is not worth it if
// the last contender of the loop found others ahead: they are likely to be there.
func (c *contender) alsoList(opts []framework.CreateOption) []framework.CreateOption {
	c.beside = framework.SiblingsRead{}
	b := c.attempt.Beside
	if b == nil || c.loop.isBusy.Load() {
		return opts
	}
	also := framework.Extend(c.loop.nodes.Client).AlsoSiblings(b.Path, &c.beside)
	return append(opts[:len(opts):len(opts)], also)
}

// noteBeside keeps the list that came with our node, if the look that came with it
// has admitted us.
func (c *contender) noteBeside(cameWithNode, admitted bool) {
	if c.attempt.Beside == nil || !cameWithNode {
		return
	}
	c.loop.isBusy.Store(!admitted)
	if admitted {
		c.attempt.Beside.read = c.beside
	}
}

func (b *Beside) forget() {
	if b != nil {
		b.read = framework.SiblingsRead{}
	}
}

// take returns the names, once. It returns false if the list is not there. There are
// no names if the parent does not exist.
func (b *Beside) take() (names []string, ok bool) {
	if b == nil {
		return nil, false
	}
	read := b.read
	b.forget()
	return read.Names, read.Names != nil || reason.Is(read.Err, zk.ErrNoNode)
}
