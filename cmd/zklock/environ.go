package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gocurator/curator/cmd/zklock/internal/child"
	"github.com/gocurator/curator/cmd/zklock/internal/view"
	"github.com/gocurator/curator/internal/hostname"
	"github.com/gocurator/curator/recipes/locks"
)

// holding describes a held lock, for the command or for the reader of --hold.
type holding struct {
	Path    string `json:"path"`
	Node    string `json:"node"`
	Token   int64  `json:"fencing_token"`
	Session string `json:"session_id"`
	Holder  string `json:"holder"`
}

func (g *guarded) holding(lease *locks.Lease) holding {
	service := "zklock"
	if len(g.args) > 0 {
		service = filepath.Base(g.args[0])
	}
	return holding{
		Path:    g.path,
		Node:    lease.Path(),
		Token:   lease.FencingToken(),
		Session: view.Session(g.client.SessionID()),
		Holder:  cmp.Or(g.id, fmt.Sprintf("%s@%s/%d", service, hostname.Get(), os.Getpid())),
	}
}

// environ returns the environment of the command. If an outer zklock runs this one, the
// variables replace the outer ones.
func (g *guarded) environ(lease *locks.Lease) []string {
	h := g.holding(lease)
	own := []string{
		"ZKLOCK_PATH=" + h.Path,
		"ZKLOCK_NODE=" + h.Node,
		fmt.Sprint("ZKLOCK_TOKEN=", h.Token),
		fmt.Sprint("ZKLOCK_SESSION=", h.Session),
		"ZKLOCK_ID=" + h.Holder,
		fmt.Sprint("ZKLOCK_FD=", child.FirstFile()),
	}
	replaced := []string{"ZKLOCK_PATH", "ZKLOCK_NODE", "ZKLOCK_TOKEN", "ZKLOCK_SESSION", "ZKLOCK_ID", "ZKLOCK_FD"}
	environ := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(replaced, name)
	})
	return append(environ, own...)
}

// printHolding prints one line when a lock without a command is held.
func (g *guarded) printHolding(lease *locks.Lease) error {
	h := g.holding(lease)
	if g.format == jsonForm {
		return g.writeJSON(h)
	}
	_, err := fmt.Fprintf(g.out, "holding %s with token %d\n", h.Path, h.Token)
	return err
}

// lossFile is a pipe without any writes. The child reads EOF from its end when the lock
// is lost or this program has died.
type lossFile struct {
	r, w *os.File
	stop func() bool
}

func newLossFile(lease *locks.Lease) (*lossFile, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &lossFile{r, w, context.AfterFunc(lease.Context(), func() { w.Close() })}, nil
}

func (f *lossFile) close() {
	f.stop()
	f.r.Close()
	f.w.Close()
}
