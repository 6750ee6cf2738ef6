package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"strconv"
	"strings"

	"github.com/gocurator/curator/cmd/zklock/internal/cli"
	"github.com/gocurator/curator/cmd/zklock/internal/columns"
	"github.com/gocurator/curator/cmd/zklock/internal/terminal"
	"github.com/gocurator/curator/cmd/zklock/internal/view"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/printable"
)

var freeCommand = &command{
	Name:    "free",
	Purpose: "delete the node of a holder or a waiter",
	Usage:   "--czxid Z [flags] NODE",
	MinArgs: 1,
	MaxArgs: 1,
	Long: `
This is the last resort: the owner may still work, and only a fencing token
stops it. The command deletes the node with this czxid only, and none that was
created in its place. NODE and czxid are in zklock show. The command
shows what it would do and asks. Without a terminal it needs --yes. Unless the
name of the node is unique, as those of locks are, it needs the right to create
nodes beside it, and uses a sequence number there. The exit status is 1 if
nothing was deleted because of what is there, or because you said no.

  zklock free /jobs/bill/_c_...-lock-0000000012 --czxid 0x3f0001a2b
`,
	Define: defineFree,
}

func defineFree(fs *flag.FlagSet) action {
	czxid := fs.String("czxid", "", "the `id` of the transaction that created the node")
	reason := fs.String("reason", "", "a `text` for the record that is printed")
	yes := fs.Bool("yes", false, "do not ask")
	cli.Alias(fs, "yes", "y")
	return func(ctx context.Context, e *env) error {
		if *czxid == "" {
			return usagef("free: --czxid is missing; zklock show has it")
		}
		want, err := strconv.ParseInt(*czxid, 0, 64)
		if err != nil {
			return usagef("free: --czxid %q is no number, such as 0x3f0001a2b", *czxid)
		}
		if !*yes && !terminal.Is(e.in) {
			return usagef("free: without a terminal it needs --yes")
		}
		c, err := e.connect(ctx)
		if err != nil {
			return err
		}
		defer c.Close()
		return e.free(ctx, c, want, *reason, *yes)
	}
}

// free deletes the incarnation of a node, if the user agrees.
func (e *env) free(ctx context.Context, c *framework.Client, czxid int64, reason string, yes bool) error {
	s, err := e.findIncarnation(ctx, c, czxid)
	if err != nil {
		return err
	}
	if !yes {
		e.explain(s)
		if agreed, err := e.ask(ctx, "Delete this node? [y/N] "); !agreed {
			return statusError{refused, errors.Join(err, errors.New("nothing was deleted"))}
		}
	}
	if err := deleteIncarnation(ctx, c, s); err != nil {
		return err
	}
	if e.isJSON() {
		return e.writeJSON(struct {
			view.Event
			Reason string `json:"reason,omitempty"`
		}{e.view().Happened(view.Freed, *s), reason})
	}
	text := fmt.Sprintf("deleted %s, czxid %#x, of %s", printable.String(s.Path), czxid, printable.String(s.String()))
	if reason != "" {
		text += ": " + printable.String(reason)
	}
	_, err = fmt.Fprintln(e.out, text)
	return err
}

// findIncarnation returns the participant, if its node is the one that the user
// means.
func (e *env) findIncarnation(ctx context.Context, c *framework.Client, czxid int64) (*view.Sighting, error) {
	node := e.args[0]
	exists, stat, err := c.Exists(ctx, node)
	switch {
	case err != nil:
		return nil, err
	case !exists:
		return nil, statusError{refused, fmt.Errorf("%s is gone", printable.String(node))}
	case stat.Czxid != czxid:
		return nil, otherIncarnation(node, stat.Czxid)
	}
	s, err := participantAt(ctx, c, node)
	switch {
	case err != nil:
		return nil, err
	case s == nil:
		return nil, statusError{refused, fmt.Errorf("%s is no node of a lock, a leader or a member", printable.String(node))}
	case s.Czxid != czxid:
		return nil, otherIncarnation(node, s.Czxid)
	}
	return s, nil
}

func otherIncarnation(node string, czxid int64) error {
	return statusError{refused, fmt.Errorf("%s is another one now, with czxid %#x: nothing was deleted",
		printable.String(node), czxid)}
}

// explain says what would be deleted, and what follows.
func (e *env) explain(s *view.Sighting) {
	v := e.view()
	fmt.Fprintln(e.err, v.Title(s.Recipe))
	table := columns.New(e.err, e.coloursOn(e.err))
	for _, line := range v.Facts(*s) {
		table.Row(line...)
	}
	table.Flush()
	fmt.Fprintln(e.err, "Its owner may still be at work. Only a fencing token stops what it writes.")
}

// ask asks a question, and reports whether the answer is yes.
func (e *env) ask(ctx context.Context, question string) (bool, error) {
	fmt.Fprint(e.err, question)
	answer := make(chan string, 1)
	go func() { // it ends with the program, if the user does not answer
		line, _ := bufio.NewReader(e.in).ReadString('\n')
		answer <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case text := <-answer:
		return text == "y" || text == "yes", nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}
