//go:build real

package databases

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// server is a running database server. It has no port, and what it keeps need not
// survive the machine.
type server struct {
	dir string
	cmd *exec.Cmd
	in  io.Closer // its end stops the server
}

// The first call starts a server. All tests share it.
var (
	postgresServer = sync.OnceValues(func() (*server, error) { return started("initdb", startPostgres) })
	mariaServer    = sync.OnceValues(func() (*server, error) { return started("mariadb-install-db", startMaria) })
)

// running are the servers that tests have needed.
var running []*server

// closeServers ends the servers after the last test.
func closeServers() error {
	var errs []error
	for _, s := range running {
		_ = s.in.Close()
		_ = s.cmd.Wait() // it is killed
		errs = append(errs, os.RemoveAll(s.dir))
	}
	return errors.Join(errs...)
}

func started(program string, start func(s *server, bin string) error) (*server, error) {
	path, err := find(program)
	if err != nil {
		return nil, err
	}
	// The path is short, for the sake of the socket in it.
	dir, err := unprivileged("mktemp", "-d", "/tmp/fence.XXXXXX").Output()
	if err != nil {
		return nil, err
	}
	s := &server{dir: strings.TrimSpace(string(dir))}
	if err := start(s, filepath.Dir(path)); err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.dir))
	}
	running = append(running, s)
	return s, nil
}

// find returns the path of a program of Debian's packages.
func find(program string) (string, error) {
	if path, err := exec.LookPath(program); err == nil {
		return filepath.EvalSymlinks(path)
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + program)
	if err != nil || len(found) == 0 {
		return "", fmt.Errorf("there is no %s: install Debian's packages postgresql, mariadb-server-core and mariadb-client-core", program)
	}
	return slices.Max(found), nil
}

// unprivileged returns a command that does not run as root, which database servers
// refuse.
func unprivileged(name string, args ...string) *exec.Cmd {
	if os.Getuid() == 0 {
		args = append([]string{"--reuid=nobody", "--regid=nogroup", "--clear-groups", name}, args...)
		name = "setpriv"
	}
	cmd := exec.Command(name, args...)
	cmd.Dir = "/"
	return cmd
}

// durable reports whether databases write commits to the disk, as they do by default:
// only benchmarks need that.
func durable() bool { return flag.Lookup("test.bench").Value.String() != "" }

func startPostgres(s *server, bin string) error {
	data := filepath.Join(s.dir, "data")
	initdb := unprivileged(filepath.Join(bin, "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	args := []string{"-D", data, "-k", s.dir, "-h", "", "-c", "shared_buffers=16MB"}
	if !durable() {
		args = append(args, "-c", "fsync=off", "-c", "full_page_writes=off")
	}
	return s.serve("ready to accept connections", filepath.Join(bin, "postgres"), args...)
}

func startMaria(s *server, bin string) error {
	data := filepath.Join(s.dir, "data")
	install := unprivileged(filepath.Join(bin, "mariadb-install-db"), "--no-defaults", "--datadir="+data,
		"--auth-root-authentication-method=normal", "--skip-test-db", "--innodb-log-file-size=8M")
	if out, err := install.CombinedOutput(); err != nil {
		return fmt.Errorf("mariadb-install-db: %w\n%s", err, out)
	}
	program, err := exec.LookPath("/usr/sbin/mariadbd")
	if err != nil {
		return err
	}
	args := []string{"--no-defaults", "--datadir=" + data, "--skip-networking", "--socket=" + filepath.Join(s.dir, "socket"), "--innodb-log-file-size=8M"}
	if !durable() {
		args = append(args, "--innodb-flush-log-at-trx-commit=0")
	}
	return s.serve("ready for connections", program, args...)
}

// untilEnd runs a program until standard input ends, which it does with this program,
// too. The log ends with the program: the shell closes its own end of it.
const untilEnd = `"$0" "$@" & exec 2>&-; read -r _; kill -QUIT $!; wait`

// serve returns when the server's log has the line.
func (s *server) serve(line, program string, args ...string) error {
	s.cmd = unprivileged("sh", append([]string{"-c", untilEnd, program}, args...)...)
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
	var all strings.Builder
	for lines := bufio.NewScanner(log); lines.Scan(); {
		fmt.Fprintln(&all, lines.Text())
		if strings.Contains(lines.Text(), line) {
			go func() { _, _ = io.Copy(io.Discard, log) }() // ends with the server
			return nil
		}
	}
	_ = s.in.Close() // the shell ends with it
	return fmt.Errorf("%s does not start: %w\n%s", program, s.cmd.Wait(), all.String())
}
