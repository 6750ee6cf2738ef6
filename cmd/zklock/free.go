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
This is the last resort: the owner may still be working, and only a fencing
token stops the owner's writes. The command deletes only the node with this
czxid, and no later node at the same path. zklock show prints NODE and czxid.
The command shows what it would delete and asks for confirmation; without a
terminal, --yes is required. Unless the name of the node is unique, like the
names of locks' nodes, the command needs the right to create sibling nodes, and
uses up a sequence number. The exit status is 1 if the node was not deleted
because its state or your answer forbids it.

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
			return usagef("free: --czxid %q is not a number, such as 0x3f0001a2b", *czxid)
		}
		if !*yes && !terminal.Is(e.in) {
			return usagef("free: --yes is required without a terminal")
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

// findIncarnation returns the participant if its node has the czxid that the user gave.
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
		return nil, statusError{refused, fmt.Errorf("%s belongs to no lock, leader or member", printable.String(node))}
	case s.Czxid != czxid:
		return nil, otherIncarnation(node, s.Czxid)
	}
	return s, nil
}

func otherIncarnation(node string, czxid int64) error {
	return statusError{refused, fmt.Errorf("%s is a different node now, with czxid %#x: nothing was deleted",
		printable.String(node), czxid)}
}

// explain prints which node would be deleted, and the consequences.
func (e *env) explain(s *view.Sighting) {
	v := e.view()
	fmt.Fprintln(e.err, v.Title(s.Recipe))
	table := columns.New(e.err, e.coloursOn(e.err))
	for _, line := range v.Facts(*s) {
		table.Row(line...)
	}
	table.Flush()
	fmt.Fprintln(e.err, "The owner of the node may still be working. Only a fencing token stops the owner's writes.")
}

// ask asks a question, and reports whether the answer is yes.
func (e *env) ask(ctx context.Context, question string) (bool, error) {
	fmt.Fprint(e.err, question)
	answer := make(chan string, 1)
	go func() { // the goroutine ends with the program if the user does not answer
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
