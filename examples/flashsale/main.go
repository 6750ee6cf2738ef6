// Flashsale is a shop that must not sell more units than it has. Four orders of 100 sneakers
// reach four processes at the same moment, and the shop has 100. The processes read the stock,
// decide and write it back, under an InterProcessMutex. When all orders are answered, the
// program reads the books from ZooKeeper and checks them.
//
//	go run ./examples/flashsale
//	go run ./examples/flashsale -unsafe                # without the lock: oversold
//	go run ./examples/flashsale -crash before-write    # kill the holder before its write
//	go run ./examples/flashsale -crash after-write     # kill it before its answer
//
// The part to copy is seller.go. The type seller sells an order under a lease, even if the lease
// is lost or the outcome of a write is unknown. The type ledger is the resource that the lock
// protects, with its fencing token. The rest drives the demonstration.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"io"
	"log"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/barriers"
	"github.com/gocurator/curator/testing/zktest"
)

// order asks for its whole quantity or nothing.
type order struct {
	ID       string
	Quantity int
	Worker   string
}

var storyOrders = []order{
	{"order-1", 100, "berlin"}, {"order-2", 100, "lisbon"}, {"order-3", 100, "oslo"}, {"order-4", 100, "vienna"},
}

// A worker that dies keeps the lock for the sessionTimeout. A process whose name ends with
// second takes over the order of the dead worker.
const (
	sessionTimeout = 2 * time.Second
	second         = " (process 2)"
)

// shop is how the orders are sold.
type shop struct {
	unsafe bool
	crash  moment                                                  // when the first holder is killed; empty: never
	start  func(ctx context.Context, worker, servers string) error // returns when the worker has ended
}

func main() {
	s := shop{start: startProcess}
	flag.BoolVar(&s.unsafe, "unsafe", false, "sell without the lock")
	flag.StringVar((*string)(&s.crash), "crash", "",
		"kill the first holder of the lock at this `moment`: before-write or after-write; not with -unsafe")
	flag.Parse()
	if s.crash != "" && (momentText[s.crash] == "" || s.unsafe) {
		flag.Usage()
		os.Exit(2)
	}
	if err := s.main(); err != nil {
		log.Fatal(err)
	}
}

func (s shop) main() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // also ends orphaned workers
	defer cancel()
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err
	}
	if flag.NArg() > 0 { // the arguments of startProcess
		return s.work(ctx, flag.Arg(0), flag.Arg(1), self.Kill)
	}
	srv, err := zktest.Run(zktest.WithTCP("127.0.0.1:0"))
	if err != nil {
		return err
	}
	defer srv.Close()
	return s.run(ctx, srv, os.Stdout)
}

// startProcess starts this program again, as a worker.
func startProcess(ctx context.Context, worker, servers string) error {
	cmd := exec.CommandContext(ctx, os.Args[0], slices.Concat(os.Args[1:], []string{worker, servers})...)
	cmd.Stderr = os.Stderr
	return cmd.Run()
}

// run runs a sale from the opening of the ledger to its audit.
func (s shop) run(ctx context.Context, srv *zktest.Server, out io.Writer) error {
	root := path.Join("/flashsale", rand.Text())
	if err := srv.Create(root, nil); err != nil {
		return err
	}
	servers := srv.Addr() + root
	client, err := framework.Connect(ctx, servers, framework.WithDialer(srv.Dialer()))
	if err != nil {
		return err
	}
	defer client.Close()
	ledger := ledger{client}
	if err := ledger.create(ctx, accountPath, account{Remaining: initialStock}); err != nil {
		return err
	}
	s.printOpening(out, root)
	var running sync.WaitGroup
	errs := make([]error, len(storyOrders))
	for i, o := range storyOrders {
		running.Go(func() {
			errs[i] = s.start(ctx, o.Worker, servers)
			if errs[i] != nil && s.crash != "" {
				errs[i] = s.start(ctx, o.Worker+second, servers)
			}
		})
	}
	running.Wait()
	books, err := ledger.books(ctx, storyOrders)
	if err := errors.Join(append(errs, err)...); err != nil {
		return err
	}
	return s.printReport(out, books)
}

// work answers the order of a worker. The function die kills the worker, which cannot clean up.
func (s shop) work(ctx context.Context, name, servers string, die func() error, opts ...framework.Option) error {
	client, err := framework.Connect(ctx, servers, append(opts, framework.WithSessionTimeout(sessionTimeout))...)
	if err != nil {
		return err
	}
	defer client.Close()
	together := barriers.NewDoubleBarrier(client, "/together", len(storyOrders))
	reached := func(ctx context.Context, at moment) error {
		switch {
		case s.unsafe && at == beforeWrite: // all workers have read before one of them writes
			_, err := together.Enter(ctx)
			return err
		case at == s.crash:
			_, err := client.Create(ctx, "/crash", nil)
			if errors.Is(err, zk.ErrNodeExists) {
				return nil // another worker was killed
			}
			return errors.Join(err, die())
		}
		return nil
	}
	if !s.unsafe && !strings.HasSuffix(name, second) { // all workers begin together
		if _, err := together.Enter(ctx); err != nil {
			return err
		}
	}
	i := slices.IndexFunc(storyOrders, func(o order) bool { return strings.HasPrefix(name, o.Worker) })
	_, err = seller{ledger{client}, name, s.unsafe, reached}.sell(ctx, storyOrders[i])
	return err
}
