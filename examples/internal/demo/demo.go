// Package demo has what the main functions of examples share: flags, servers,
// and the exit status. An example has a story, which shows something and checks
// it.
package demo

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// Exit statuses.
const (
	AsExpected = 0
	Failed     = 1
	BadInput   = 2
)

// Story shows something on a stage, and checks it. It returns an error if that
// was not shown.
type Story func(ctx context.Context, stage Stage) error

// Stage is what a story has.
type Stage struct {
	Client  *framework.Client // connected before the story, and closed after it
	Out     io.Writer         // may be written by several goroutines at a time
	Servers string            // the connection string of Client
	// Embedded is true if the server runs in this process.
	Embedded bool
}

// Connect returns another client of the story's servers. The caller closes it.
func (s Stage) Connect(ctx context.Context, opts ...framework.Option) (*framework.Client, error) {
	return connect(ctx, s.Servers, opts...)
}

// Main runs a story with the arguments of the command line, and ends the
// process with the exit status. An interrupt ends the context of the story.
func Main(name string, story Story) {
	os.Exit(Run(UntilInterrupt(), name, story, os.Args[1:], os.Stdout, os.Stderr))
}

// UntilInterrupt returns a context that ends with an interrupt.
func UntilInterrupt() context.Context {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second Ctrl-C does not wait for the clean-up.
	context.AfterFunc(ctx, stop)
	return ctx
}

// errTimeout is why a story has ended that took too long.
var errTimeout = errors.New("not done in time")

// Run runs a story and returns the exit status. It embeds a server, unless the
// flag -servers names an ensemble. There, the story has its own chroot,
// which is deleted afterwards. The functions define more flags.
func Run(ctx context.Context, name string, story Story, args []string, stdout, stderr io.Writer, more ...func(*flag.FlagSet)) int {
	fs := flag.NewFlagSet(name, flag.ContinueOnError)
	for _, define := range more {
		define(fs)
	}
	servers := fs.String("servers", "", "`host:port,...` of a real ensemble (default: an embedded server)")
	timeout := fs.Duration("timeout", time.Minute, "give up after this time")
	fs.SetOutput(stderr)
	err := fs.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return AsExpected
	case err != nil: // fs has printed it
		return BadInput
	case fs.NArg() > 0 || *timeout <= 0:
		fmt.Fprintf(stderr, "%s: no arguments are allowed, and -timeout must be positive: %q\n", name, args)
		return BadInput
	}
	ctx, cancel := context.WithTimeoutCause(ctx, *timeout, errTimeout)
	defer cancel()
	out := &lines{to: stdout}
	if *servers == "" {
		err = onEmbedded(ctx, story, out)
	} else {
		err = onEnsemble(ctx, *servers, name, story, out)
	}
	if err != nil {
		if ctx.Err() != nil {
			err = errors.Join(context.Cause(ctx), err)
		}
		fmt.Fprintf(stderr, "%s: %v\n", name, err)
		return Failed
	}
	return AsExpected
}

func onEmbedded(ctx context.Context, story Story, out io.Writer) error {
	srv, err := zktest.Run(zktest.WithTCP("127.0.0.1:0"))
	if err != nil {
		return err
	}
	defer srv.Close()
	return onStage(ctx, Stage{Out: out, Servers: srv.Addr(), Embedded: true}, story)
}

// onEnsemble separates this run from all others on the same servers.
func onEnsemble(ctx context.Context, servers, name string, story Story, out io.Writer) error {
	client, err := framework.Connect(ctx, servers)
	if err != nil {
		return err
	}
	defer client.Close()
	root := path.Join("/examples", name, rand.Text())
	err = onStage(ctx, Stage{Out: out, Servers: strings.TrimSuffix(servers, "/") + root}, story)
	// The story may have ended because ctx has.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUp)
	defer cancel()
	return errors.Join(err, client.Delete(ctx, root, framework.AnyVersion, framework.WithChildren(), framework.WithMissingOK()))
}

func onStage(ctx context.Context, stage Stage, story Story) error {
	client, err := connect(ctx, stage.Servers)
	if err != nil {
		return err
	}
	defer client.Close()
	stage.Client = client
	return story(ctx, stage)
}

func connect(ctx context.Context, servers string, opts ...framework.Option) (*framework.Client, error) {
	return framework.Connect(ctx, servers, append([]framework.Option{framework.WithSessionTimeout(sessionTimeout)}, opts...)...)
}

// sessionTimeout is how long others wait for a process that was killed. A live
// process that pauses for a while on a busy machine is not taken for dead.
const sessionTimeout = 5 * time.Second

// lines lets one goroutine write at a time.
type lines struct {
	mu sync.Mutex
	to io.Writer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to.Write(p)
}

// cleanUp is how long the clean-up may take.
const cleanUp = 10 * time.Second
