//go:build real

package processes

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

var errNotInstalled = errors.New("no Postgres is installed: install Debian's package postgresql")

// newPostgres returns the name, for package sql, of a new database. All tests share
// its server. Without Postgres, the test fails.
func newPostgres(t *testing.T) (dsn string) {
	t.Helper()
	s, err := shared()
	require.NoError(t, err)
	return s.newDatabase(t)
}

// shared returns the server, which the first call starts.
var shared = sync.OnceValues(func() (_ *server, err error) {
	running, err = startServer()
	return running, err
})

// running is nil if no test has needed a server.
var running *server

// closePostgres ends the server after the last test.
func closePostgres() error {
	if running == nil {
		return nil
	}
	return running.close()
}

// server is a running Postgres.
type server struct {
	dir string
	cmd *exec.Cmd
	in  io.Closer // its end stops the server

	mu        sync.Mutex
	databases int
}

// startServer returns when the server serves. It has no port, and what it keeps need
// not outlive the machine.
func startServer() (*server, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	dir, err := newDir()
	if err != nil {
		return nil, err
	}
	s := &server{dir: dir}
	if err := s.start(bin); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

// binaries returns the folder of Postgres's programs, of the newest version.
func binaries() (string, error) {
	if initdb, err := exec.LookPath("initdb"); err == nil {
		initdb, err = filepath.EvalSymlinks(initdb)
		return filepath.Dir(initdb), err
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		return "", errNotInstalled
	}
	return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return cmp.Compare(versionOf(a), versionOf(b)) })), nil
}

// versionOf returns the version in the path of a program, such as 9.6 or 17.
func versionOf(program string) float64 {
	version, _ := strconv.ParseFloat(filepath.Base(filepath.Dir(filepath.Dir(program))), 64)
	return version // 0 is older than all
}

// newDir returns a folder that Postgres's user may write to. Its path is short, for
// the sake of the socket in it.
func newDir() (string, error) {
	out, err := unprivileged("mktemp", "-d", "/tmp/pgtest.XXXXXX").Output()
	if errors.Is(err, exec.ErrNotFound) {
		err = errNotInstalled
	}
	return strings.TrimSpace(string(out)), err
}

// unprivileged returns a command that does not run as root, which Postgres refuses.
func unprivileged(name string, args ...string) *exec.Cmd {
	if os.Getuid() == 0 {
		args = append([]string{"--reuid=postgres", "--regid=postgres", "--clear-groups", name}, args...)
		name = "setpriv"
	}
	cmd := exec.Command(name, args...)
	cmd.Dir = "/"
	return cmd
}

// untilEnd runs a program until standard input ends, which it does with this
// program, too. The log ends with the program: the shell closes its own end of it.
const untilEnd = `"$0" "$@" & exec 2>&-; read -r _; kill -QUIT $!; wait`

func (s *server) start(bin string) error {
	data := filepath.Join(s.dir, "data")
	initdb := unprivileged(filepath.Join(bin, "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return s.serve(bin, data)
}

func (s *server) serve(bin, data string) error {
	s.cmd = unprivileged("sh", "-c", untilEnd, filepath.Join(bin, "postgres"), "-D", data, "-k", s.dir, "-h", "",
		"-c", "fsync=off", "-c", "full_page_writes=off", "-c", "shared_buffers=16MB")
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return err
	}
	log, err := s.cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	return s.untilReady(log)
}

// untilReady reads the server's log, which says when it serves.
func (s *server) untilReady(log io.Reader) error {
	var all strings.Builder
	for lines := bufio.NewScanner(log); lines.Scan(); {
		fmt.Fprintln(&all, lines.Text())
		if strings.Contains(lines.Text(), "ready to accept connections") {
			go func() { _, _ = io.Copy(io.Discard, log) }() // ends with the server
			return nil
		}
	}
	_ = s.in.Close() // the shell ends with it
	return fmt.Errorf("postgres does not start: %w\n%s", s.cmd.Wait(), all.String())
}

func TestPostgresThatDoesNotStart(t *testing.T) {
	bin, err := binaries()
	var dir string
	if err == nil {
		dir, err = newDir()
	}
	if errors.Is(err, errNotInstalled) {
		t.Skip(err)
	}
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	data := filepath.Join(dir, "data") // is not there
	err = (&server{dir: dir}).serve(bin, data)
	require.ErrorContains(t, err, "postgres does not start: ")
	require.ErrorContains(t, err, data, "its log")
}

func (s *server) newDatabase(t *testing.T) (dsn string) {
	t.Helper()
	s.mu.Lock()
	s.databases++
	name := fmt.Sprintf("test%d", s.databases)
	s.mu.Unlock()
	_, err := store{postgresKind, s.dsn("postgres")}.mustOpen(t).Exec("CREATE DATABASE " + name)
	require.NoError(t, err)
	return s.dsn(name)
}

func (s *server) dsn(name string) string {
	return fmt.Sprintf("postgres://postgres@/%s?host=%s&sslmode=disable", name, s.dir)
}

// close ends the server at once, and removes its folder.
func (s *server) close() error {
	_ = s.in.Close()
	_ = s.cmd.Wait() // it is killed
	return os.RemoveAll(s.dir)
}
