package follow

import (
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
	mostBytes  = 128 << 10 // of a request, and about of an answer

	// overhead is about what a node takes in a request and in an answer beside
	// its path and its data.
	overhead = 128
)

// NextReads returns how many nodes the next multiRead may have, if they are like
// those of the last answer: as many as have about so many bytes together. They
// may be larger, so it is at most twice what the last one was allowed to have.
func NextReads(allowed, nodes, size, bytes int) int {
	return min(2*allowed, nodes*bytes/max(1, size))
}

// first returns how many nodes the first multiRead may have.
func (r Reads) first() int {
	if r.Size == 0 {
		return firstReads
	}
	return mostBytes / (overhead + r.Size)
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
// nodes cannot be read. A connection that ends with a multiRead does not keep the
// other nodes from being read together.
func (r Reads) Each(ctx context.Context, paths []string, take func(i int, node insider.NodeRead) error) error {
	atOnce := r.first()
	for begun := 0; begun < len(paths); {
		rest := paths[begun:]
		n := fitting(rest, atOnce)
		if n < fewReads { // the nodes behind them may be smaller
			n = min(len(rest), max(fewReads, cap(r.Slots)))
			size, err := r.oneByOne(ctx, rest[:n], begun, take)
			if err != nil {
				return err
			}
			begun, atOnce = begun+n, nextReads(n, size)
			continue
		}
		nodes, err := r.several(ctx, rest[:n])
		switch {
		case err == nil:
			err = r.Slots.Each(n, func(i int) error { return take(begun+i, nodes[i]) })
			atOnce = nextReads(n, sizeOf(nodes...))
		case reason.Is(err, framework.ErrAnswerTooLarge), reason.Is(err, framework.ErrRequestTooLarge),
			reason.Is(err, &framework.HangUpError{}):
			atOnce = n / 2
			continue
		case reason.Is(err, framework.ErrNotConnected): // another request would wait as long again
			return r.failAll(rest, begun, err, take)
		case framework.IsConnectionError(err):
			var size int
			size, err = r.oneByOne(ctx, rest[:n], begun, take)
			atOnce = min(max(fewReads, n/2), nextReads(n, size))
		default:
			_, err = r.oneByOne(ctx, rest, begun, take)
			return err
		}
		if err != nil {
			return err
		}
		begun += n
	}
	return nil
}

// oneByOne makes a request for each of the paths, and returns the size of all
// nodes. The first one has the number from.
func (r Reads) oneByOne(
	ctx context.Context, paths []string, from int, take func(i int, node insider.NodeRead) error,
) (size int, err error) {
	var all atomic.Int64
	err = r.Slots.Each(len(paths), func(i int) error {
		data, stat, err := r.One(ctx, paths[i])
		node := insider.NodeRead{Data: data, Stat: stat, Err: err}
		all.Add(int64(sizeOf(node)))
		return take(from+i, node)
	})
	return int(all.Load()), err
}

// failAll tells of nodes that cannot be read. The first one has the number from.
func (r Reads) failAll(paths []string, from int, err error, take func(i int, node insider.NodeRead) error) error {
	var op *framework.OpError
	if reason.As(err, &op) {
		err = op.Err
	}
	return r.Slots.Each(len(paths), func(i int) error {
		return take(from+i, insider.NodeRead{Err: &framework.OpError{Op: "get", Path: paths[i], Err: err}})
	})
}

// several makes one multiRead. It has a goroutine of its own, because the user's
// code may end that.
func (r Reads) several(ctx context.Context, paths []string) (nodes []insider.NodeRead, err error) {
	err = make(Slots, 1).Each(1, func(int) (err error) {
		nodes, _, err = r.Several(ctx, paths...)
		return err
	})
	for i := range nodes {
		if nodes[i].Err != nil {
			nodes[i].Err = &framework.OpError{Op: "get", Path: paths[i], Err: nodes[i].Err}
		}
	}
	return nodes, err
}

// fitting returns how many of the paths one request may have.
func fitting(paths []string, most int) int {
	size := 0
	for i, path := range paths[:min(most, len(paths))] {
		if size += overhead + len(path); size > mostBytes {
			return i
		}
	}
	return min(most, len(paths))
}

// sizeOf returns about how long an answer with the nodes is.
func sizeOf(nodes ...insider.NodeRead) (size int) {
	for _, n := range nodes {
		size += overhead + len(n.Data)
	}
	return size
}

func nextReads(nodes, size int) int {
	return min(mostReads, NextReads(nodes, nodes, size, mostBytes))
}

// Slots has room for each call that is under way: its capacity is how many there
// may be. Several goroutines may share it.
type Slots chan struct{}

// Each calls f with the numbers from 0 up to n, each on a goroutine of its own,
// and waits for all of them. After an error it begins no more calls. It returns
// the error of the lowest number that has one. A call whose goroutine the user's
// code has ended has ErrNoReturn: nobody may take it for one that has found
// nothing. A call that panics is the last one that begins, too, and Each panics
// when all are over, as if it had made the call itself.
func (s Slots) Each(n int, f func(i int) error) error {
	errs := make([]error, n)
	var calls sync.WaitGroup
	var failed atomic.Bool
	var panicked atomic.Pointer[any]
	for i := 0; i < n; i++ {
		s <- struct{}{}
		if failed.Load() {
			<-s
			break
		}
		calls.Go(func() {
			err := ErrNoReturn
			defer func() {
				if p := recover(); p != nil {
					panicked.Store(&p)
				}
				if errs[i] = err; err != nil {
					failed.Store(true)
				}
				<-s
			}()
			err = f(i)
		})
	}
	calls.Wait()
	if p := panicked.Load(); p != nil {
		panic(*p)
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
