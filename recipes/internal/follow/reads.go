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

// Reads reads the data of many nodes with few requests: many nodes with one multiRead, or
// one node with each request, several at a time.
type Reads struct {
	Slots   Slots // for the requests of single nodes
	One     func(ctx context.Context, path string) ([]byte, *zk.Stat, error)
	Several func(ctx context.Context, paths ...string) ([]insider.NodeRead, int64, error)

	// Size is the approximate maximum size of a node's data in bytes, or 0 if it is
	// unknown.
	Size int
}

// ReadsOf returns the Reads of a client. At most atOnce requests of single nodes are sent
// concurrently.
func ReadsOf(c *framework.Client, atOnce int) Reads {
	return Reads{Slots: make(Slots, atOnce), One: c.Get, Several: insider.Of(c).MultiRead}
}

// The size of nodes is unknown before they are read. By default, servers accept up to a
// megabyte per node, but hardly any node of a recipe has more than a kilobyte. So the
// first multiRead has few nodes, and a client on a slow network does not wait for a long
// reply. If the size is known, as for the nodes of a queue, the multiRead has as many
// nodes as fit. The mean size in each reply decides how many nodes the next multiRead
// has: see NextReads.
const (
	fewReads   = 4 // fewer nodes are read as fast one by one
	firstReads = 16
	mostReads  = 1024
	mostBytes  = 128 << 10 // the approximate limit of a reply and its request

	// overhead is the approximate size of a node in a request and a reply, without its
	// path and its data.
	overhead = 128
)

// NextReads returns how many nodes the next multiRead may have, given the size of the
// last reply and a limit of bytes for the next one. The next nodes may be larger, so the
// result is at most twice the allowed number of the last multiRead.
func NextReads(allowed, nodes, size, bytes int) int {
	return min(2*allowed, nodes*bytes/max(1, size))
}

// Each calls take with the index of each path, and with the result of reading its node.
// It may call take concurrently. If take returns an error, Each stops and returns the
// error.
//
// If a node cannot be read, take gets the error, and the other nodes are read all the
// same. The error names a get of that node, even if the node was read by a multiRead. If
// a multiRead fails as a whole, take is not called. Each then reads the same nodes again:
// with smaller multiReads if the request or the reply was too long, and otherwise one by
// one. The client retries these single requests, and their errors say why the nodes
// cannot be read. Without a connection, Each returns the error, because every other
// request would wait just as long.
func (r Reads) Each(ctx context.Context, paths []string, take func(i int, node insider.NodeRead) error) error {
	atOnce := firstReads
	if r.Size > 0 {
		atOnce = mostBytes / (overhead + r.Size)
	}
	for begun := 0; begun < len(paths); {
		rest, most := paths[begun:], mostReads
		n := min(len(rest), atOnce)
		var nodes []insider.NodeRead // nil if the nodes are read one by one
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

// node returns the result for a path: from the reply to a multiRead, or else by a
// request.
func (r Reads) node(ctx context.Context, path string, answer []insider.NodeRead, i int) (node insider.NodeRead) {
	if answer == nil {
		node.Data, node.Stat, node.Err = r.One(ctx, path)
	} else if node = answer[i]; node.Err != nil {
		node.Err = &framework.OpError{Op: "get", Path: path, Err: node.Err}
	}
	return node
}

// Slots limits concurrent calls to its capacity. Several goroutines may share it.
type Slots chan struct{}

// Each calls f with the numbers from 0 to n-1, each in a new goroutine, and waits for all
// of them. After an error it starts no more calls. It returns the error of the lowest
// failing number.
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
