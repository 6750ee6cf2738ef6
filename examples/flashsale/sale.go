package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"path"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// flashSale is a finished sale.
type flashSale struct {
	cfg     config
	results []result
	killed  *process
	audit   audit
}

var errTimeout = errors.New("not all orders were answered in time")

// runSale runs a sale from the opening of the ledger to its audit. However it
// ends, it leaves only the container node /flashsale, which the server removes
// when it is empty.
func runSale(ctx context.Context, cfg config, stdout io.Writer) (sale flashSale, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, cfg.timeout, errTimeout)
	defer cancel()
	defer func() {
		if err != nil && errors.Is(context.Cause(ctx), errTimeout) {
			err = errTimeout
		}
	}()
	servers := cfg.servers
	if servers == "" {
		srv, err := zktest.Run(zktest.WithTCP("127.0.0.1:0"))
		if err != nil {
			return flashSale{}, err
		}
		defer srv.Close()
		servers = srv.Addr()
	}
	client, err := framework.New(servers, framework.WithSessionTimeout(cfg.sessionTimeout))
	if err != nil {
		return flashSale{}, err
	}
	defer client.Close()
	session, err := client.Session(ctx)
	if err != nil {
		return flashSale{}, err
	}
	// The timeout that the server has granted.
	cfg.sessionTimeout = session.Timeout()

	// A path of its own separates the run from all others on the same servers.
	books := ledger{client, path.Join("/flashsale", rand.Text())}
	printOpening(stdout, cfg, books.root)
	if !cfg.keep {
		defer func() { err = firstOf(err, cleanUp(ctx, books)) }()
	}
	if err := books.open(ctx, cfg.stock); err != nil {
		return flashSale{}, err
	}
	s := shop{cfg: cfg, servers: servers, root: books.root}
	if err := s.run(ctx); err != nil {
		return flashSale{}, err
	}
	b, err := books.books(ctx, cfg.stock)
	if err != nil {
		return flashSale{}, err
	}
	return flashSale{cfg, s.results, s.killed, b.audit(cfg, s.results)}, nil
}

// cleanUp removes a ledger from the servers, even if ctx has ended.
func cleanUp(ctx context.Context, l ledger) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := l.remove(ctx); err != nil {
		return fmt.Errorf("%s is left on the servers: %w", l.root, err)
	}
	return nil
}

func firstOf(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

// asExpected reports whether the sale showed what it was meant to show.
func (f *flashSale) asExpected() bool {
	switch {
	case f.cfg.unsafe:
		return f.audit.oversold() > 0
	case f.cfg.crash != "" && f.killed == nil:
		return false
	default:
		return f.audit.balances()
	}
}
