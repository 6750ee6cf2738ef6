package main

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"time"

	"github.com/gocurator/curator/cmd/zklock/internal/cli"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/printable"
	"github.com/gocurator/curator/recipes/inspect"
)

var lsCommand = &command{
	Name:    "ls",
	Purpose: "list locks, and who holds them",
	Usage:   "[flags] [ROOT]",
	MaxArgs: 1,
	Long: `
The list has the locks and leaders at ROOT, by default "/", and right below it.
A free lock has no nodes and is not listed. AGE is the age of the first holder's
node, by this machine's clock: it counts from when the holder queued. "?" is an
owner whose node has another form.

  zklock ls -r --held-over 1h /jobs
`,
	Define: defineLs,
}

// listing has the flags of ls.
type listing struct {
	recursive bool
	all       bool
	heldOver  *time.Duration
}

func defineLs(fs *flag.FlagSet) action {
	l := &listing{}
	fs.BoolVar(&l.recursive, "r", false, "everything below ROOT")
	cli.Alias(fs, "r", "recursive")
	fs.BoolVar(&l.all, "a", false, "groups and queues, too")
	cli.Alias(fs, "a", "all")
	l.heldOver = cli.Seconds(fs, "held-over", 0, "only what was held for this `time`, such as 1h")
	return l.run
}

// readAtMost is how many participants of each recipe ls reads. It only counts the rest.
const readAtMost = 1000

func (l *listing) run(ctx context.Context, e *env) error {
	c, err := e.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	opts := append(rangeOf(l.recursive), inspect.WithMaxParticipants(readAtMost))
	if !l.all {
		opts = append(opts, inspect.WithKinds(inspect.Mutex, inspect.ReadWriteLock, inspect.Semaphore, inspect.LeaderLatch))
	}
	return l.list(ctx, e, c, opts)
}

// list prints the results of a walk while the walk continues.
func (l *listing) list(ctx context.Context, e *env, c *framework.Client, opts []inspect.Option) error {
	rows := e.table()
	found := 0
	for r, err := range inspect.Walk(ctx, c, rootOf(e.args), opts...) {
		if err != nil {
			rows.Flush()
			return orMissing(err, rootOf(e.args))
		}
		v := e.view()
		if !l.wants(r, v.Now) {
			continue
		}
		if found++; found == 1 && !e.isJSON() {
			rows.Header(v.LockHeader()...)
		}
		if e.isJSON() {
			err = e.writeJSON(v.Lock(r))
		} else {
			err = rows.Row(v.LockRow(r)...)
		}
		if err != nil {
			return err
		}
	}
	if found == 0 && !e.isJSON() {
		fmt.Fprintln(e.err, "nothing found"+whereLooked(l.recursive, rootOf(e.args)))
	}
	return rows.Flush()
}

// wants reports whether to list a recipe. A node that may not be read is always listed,
// because nothing is known about it.
func (l *listing) wants(r inspect.Recipe, now time.Time) bool {
	if r.Kind == inspect.Unreadable {
		return true
	}
	if *l.heldOver <= 0 {
		return true
	}
	for _, p := range r.Holders {
		if !p.Since.IsZero() && now.Sub(p.Since) > *l.heldOver {
			return true
		}
	}
	return false
}

// rootOf returns the operand, or the root.
func rootOf(args []string) string {
	if len(args) == 0 {
		return "/"
	}
	return args[0]
}

// rangeOf returns how deep a walk goes.
func rangeOf(recursive bool) []inspect.Option {
	if recursive {
		return nil
	}
	return []inspect.Option{inspect.WithDepth(1)}
}

// whereLooked says that a walk did not cover the whole tree, so other nodes may exist.
func whereLooked(recursive bool, roots ...string) string {
	if recursive {
		return ""
	}
	return fmt.Sprintf(" at %s and right below; -r looks deeper", printable.String(strings.Join(roots, ", ")))
}
