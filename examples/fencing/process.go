//go:build unix

package main

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	_ "modernc.org/sqlite"

	"github.com/gocurator/curator/contrib/fencesql"
	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// tellerCommand turns the program into a teller. Only the parent uses it.
const tellerCommand = "teller"

// amount is what each teller pays out.
const amount = 60

// sessionTimeout is how long the successor waits for a holder that was stopped.
const sessionTimeout = 4 * time.Second

// What a teller says to its parent.
const (
	hasRead = "has the lock, and reads a balance of %d."
	hasPaid = "writes the new balance, and pays out."
	refused = "writes the new balance. The database refuses: stale fencing token."
)

// runIfTeller is a teller's process, if the parent has started it.
func runIfTeller() {
	if len(os.Args) != 6 || os.Args[1] != tellerCommand {
		return
	}
	if err := payOut(os.Args[2], os.Args[3], os.Args[4], os.Args[5] == "true"); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", os.Args[2], err)
		os.Exit(demo.Failed)
	}
	os.Exit(demo.AsExpected)
}

func payOut(name, servers, dsn string, unfenced bool) error {
	ctx := context.Background()
	client, err := framework.Connect(ctx, servers, framework.WithSessionTimeout(sessionTimeout))
	if err != nil {
		return err
	}
	defer client.Close()
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	decide := func(balance int) { // until the parent sends a line
		fmt.Printf(hasRead+"\n", balance)
		bufio.NewScanner(os.Stdin).Scan()
	}
	err = teller{name, locks.NewInterProcessMutex(client, "/lock"), db, unfenced, decide}.withdraw(ctx, amount)
	if errors.Is(err, fencesql.ErrStale) {
		fmt.Println(refused)
		return nil
	}
	if err == nil {
		fmt.Println(hasPaid)
	}
	return err
}

// tellers are processes as their parent sees them. After the first error, its methods
// do nothing.
type tellers struct {
	ctx  context.Context // kills the processes when it ends
	out  io.Writer
	args []string
	all  []*process
	err  error
}

type process struct {
	*exec.Cmd
	name string
	in   io.Writer
	out  *bufio.Scanner
}

func (s *tellers) start(name string) *process {
	cmd := exec.CommandContext(s.ctx, os.Args[0], append([]string{tellerCommand, name}, s.args...)...)
	cmd.Stderr = os.Stderr
	in, inErr := cmd.StdinPipe()
	out, outErr := cmd.StdoutPipe()
	if s.err = errors.Join(s.err, inErr, outErr); s.err != nil {
		return nil
	}
	p := &process{cmd, name, in, bufio.NewScanner(out)}
	if s.err = cmd.Start(); s.err == nil {
		s.all = append(s.all, p)
	}
	return p
}

// says waits until a teller says what it has to, and prints it.
func (s *tellers) says(p *process, what string) {
	switch {
	case s.err != nil:
	case !p.out.Scan():
		s.err = fmt.Errorf("%s has ended, and has not said that it %s", p.name, what)
	case p.out.Text() != what:
		s.err = fmt.Errorf("%s says that it %s", p.name, p.out.Text())
	default:
		fmt.Fprintln(s.out, p.name, what)
	}
}

func (s *tellers) signal(p *process, signal os.Signal, what string) {
	if s.err == nil {
		s.err = p.Process.Signal(signal)
		fmt.Fprintln(s.out, p.name, what)
	}
}

// goOn has a teller write the new balance.
func (s *tellers) goOn(p *process) {
	if s.err == nil {
		_, s.err = fmt.Fprintln(p.in)
	}
}

// wait waits until all tellers have ended, and kills them after an error.
func (s *tellers) wait() error {
	for _, p := range s.all {
		if s.err != nil {
			_ = p.Process.Kill()
		}
		s.err = errors.Join(s.err, p.Wait())
	}
	return s.err
}
