package follow

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/reason"
)

// Reads reads the data of many nodes with few requests: many nodes with one
// multiRead, or else one node with each request, several at a time.
type Reads struct {
	Slots   Slots // for the requests of one node
	One     func(ctx context.Context, path string) ([]byte, *zk.Stat, error)
	Several func(ctx context.Context, paths ...string) ([]insider.NodeRead, int64, error)

	// Size is about how many bytes of data a node has at most, or 0 if nobody
	// knows.
	Size int
}

// ReadsOf returns the reads of a client. No more than atOnce requests of one node
// are under way at once.
func ReadsOf(c *framework.Client, atOnce int) Reads {
	return Reads{Slots: make(Slots, atOnce), One: c.Get, Several: insider.Of(c).MultiRead}
}

// Nobody knows how much data nodes have before they are read. Servers take up to
// a megabyte for each by default, but hardly any node of a recipe has more than
// a kilobyte. So the first multiRead has few nodes: over a slow line, a client
// would not wait for a long answer. Where the size is known, as for nodes of a queue,
// it has as many as fit. The mean size in each answer decides how many the next one
// has: see NextReads.
const (
	fewReads   = 4 // fewer nodes are read as fast one by one
	firstReads = 16
	mostReads  = 1024
	mostBytes  = 128 << 10 // of an answer and its request, about

	// overhead is about what a node takes in a request and in an answer, in addition
	// to its path and its data.
	overhead = 128
)

// NextReads returns how many nodes the next multiRead may have, if they are like
// those of the last answer: as many as have about so many bytes together. They
// may be larger, so it is at most twice what the last one was allowed to have.
func NextReads(allowed, nodes, size, bytes int) int {
	return min(2*allowed, nodes*bytes/max(1, size))
}

// Each calls take with the number of each path, and with what was read of its
// node. Several calls may be under way at once. An error that take returns ends
// the reads, and Each returns it.
//
// A node that cannot be read is an error for take, and for no other node. It
// names the request to get that node, however it was read. If a multiRead fails
// as a whole, take does not hear of that. The same nodes are read again: with
// smaller requests if the request or the answer was too long, and else one by
// one. Then it is those requests that the client repeats, and that tell why the
// nodes cannot be read. Without a connection, Each returns the error: every other
// request would wait as long again.
func (r Reads) Each(ctx context.Context, paths []string, take func(i int, node insider.NodeRead) error) error {
	atOnce := firstReads
	if r.Size > 0 {
		atOnce = mostBytes / (overhead + r.Size)
	}
	for begun := 0; begun < len(paths); {
		rest, most := paths[begun:], mostReads
		n := min(len(rest), atOnce)
		var nodes []insider.NodeRead // nil if they are read one by one
		var err error
		if n >= fewReads {
			nodes, _, err = r.Several(ctx, rest[:n]...)
		} else {
			n = min(len(rest), max(fewReads, cap(r.Slots))) // the nodes behind them may be smaller
		}
		switch {
		case reason.Is(err, framework.ErrAnswerTooLarge), reason.Is(err, framework.ErrRequestTooLarge),
			reason.Is(err, &framework.HangUpError{}):
			atOnce = n / 2
			continue
		case reason.Is(err, framework.ErrNotConnected):
			return err
		case err != nil:
			most = n / 2
		}
		var size atomic.Int64
		err = r.Slots.Each(n, func(i int) error {
			node := r.node(ctx, rest[i], nodes, i)
			size.Add(int64(overhead + len(rest[i]) + len(node.Data)))
			return take(begun+i, node)
		})
		if err != nil {
			return err
		}
		begun, atOnce = begun+n, min(most, NextReads(n, n, int(size.Load()), mostBytes))
	}
	return nil
}

// node returns the node with a path: the one with this number in the answer to a
// multiRead, or else by a request.
func (r Reads) node(ctx context.Context, path string, answer []insider.NodeRead, i int) (node insider.NodeRead) {
	if answer == nil {
		node.Data, node.Stat, node.Err = r.One(ctx, path)
	} else if node = answer[i]; node.Err != nil {
		node.Err = &framework.OpError{Op: "get", Path: path, Err: node.Err}
	}
	return node
}

// Slots has room for each call that is under way: its capacity is how many there
// may be. Several goroutines may share it.
type Slots chan struct{}

// Each calls f with the numbers from 0 up to n, each on a goroutine of its own,
// and waits for all of them. After an error it begins no more calls. It returns
// the error of the lowest number that has one.
func (s Slots) Each(n int, f func(i int) error) error {
	errs := make([]error, n)
	var calls sync.WaitGroup
	var failed atomic.Bool
	for i := range n {
		s <- struct{}{}
		if failed.Load() {
			<-s
			break
		}
		calls.Go(func() {
			if errs[i] = f(i); errs[i] != nil {
				failed.Store(true)
			}
			<-s
		})
	}
	calls.Wait()
	return cmp.Or(errs...)
}
