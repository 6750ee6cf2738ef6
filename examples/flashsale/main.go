// Flashsale is a shop that must not sell more units than it has. Four orders of
// 100 sneakers reach four services at the same moment, and the shop has 100.
//
//	go run ./examples/flashsale
//
// The services are processes, each with its own ZooKeeper client. They read the
// stock, decide and write it back, under an InterProcessMutex. When all orders
// are answered, the program reads the books from ZooKeeper and checks them.
//
//	-unsafe                run without the lock, which oversells the stock
//	-crash before-write    kill the holder of the lock before its write
//	-crash after-write     kill it after its write, before its answer
//
// The part to copy is seller.go: how to sell an order under a lease, and what to
// do when the lease is lost or the outcome of a write is unknown. The file
// ledger.go is the resource that the lock protects, with its fencing token. The
// rest drives the demonstration.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/framework"
)

// sessionTimeout is how long a dead worker keeps its lock.
var sessionTimeout = 2 * time.Second

func main() {
	demo.RunIfWorker(work, framework.WithSessionTimeout(sessionTimeout))
	os.Exit(run(demo.UntilInterrupt(), os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var cfg config
	return demo.Run(ctx, "flashsale", cfg.run, args, stdout, stderr, cfg.flags)
}

// config is how the workers sell.
type config struct {
	Unsafe bool
	Crash  moment        // when the first holder of the lock is killed; empty: never
	Think  time.Duration // the pause between reading and writing
}

// Without the lock, all workers must have read before one of them writes.
const unsafeThink = 250 * time.Millisecond

func (c *config) flags(fs *flag.FlagSet) {
	fs.DurationVar(&c.Think, "think", 5*time.Millisecond, "pause between reading and writing; longer with -unsafe")
	fs.BoolFunc("unsafe", "sell without the lock", func(string) error {
		c.Unsafe, c.Think = true, max(c.Think, unsafeThink)
		return c.validate()
	})
	fs.Func("crash", "kill the holder of the lock at this `moment`: before-write or after-write", func(v string) error {
		c.Crash = moment(v)
		return c.validate()
	})
}

func (c *config) validate() error {
	if c.Crash != "" && momentText[c.Crash] == "" {
		return fmt.Errorf("must be %s or %s", beforeWrite, afterWrite)
	}
	if c.Crash != "" && c.Unsafe {
		return errors.New("-crash kills the holder of the lock; with -unsafe there is none")
	}
	return nil
}
