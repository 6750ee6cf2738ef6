package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/gocurator/curator/internal/kazootest"
	"github.com/gocurator/curator/internal/zkserver"
)

// facts describe the machine, in the form of configuration lines of Go's benchmarks.
func facts() []string {
	etcd, redis := numberIn(output("etcd", "--version")), numberIn(output("redis-server", "--version"))
	return []string{
		"date: " + time.Now().UTC().Format(time.DateOnly),
		"go: " + runtime.Version(),
		"processors: " + fmt.Sprint(runtime.GOMAXPROCS(0)), // the tests use as many
		"commit: " + commit(),
		"java: " + firstLine(output("java", "-version")),
		"curator: " + curatorVersion(),
		"zookeeper: " + zookeeperVersion(),
		"gozookeeper: " + output("go", "list", "-m", "-f", "{{.Version}}", "github.com/go-zookeeper/zk"),
		"kazoo: " + kazooVersion(),
		"etcd: " + etcd,
		"etcdclient: " + clientOf(etcd, "go.etcd.io/etcd/client/v3"),
		"redis: " + redis,
		"rueidis: " + clientOf(redis, "github.com/redis/rueidis"),
	}
}

// commit returns the commit, and says whether files have changed since.
func commit() string {
	text := output("git", "rev-parse", "--short=8", "HEAD")
	changed := output("git", "status", "--porcelain", "--", "*.go", "*.java", "*.py")
	if changed != "" && changed != unknown {
		text += " and changes"
	}
	return text
}

// zookeeperVersion is the version of the server that benchmarks find, which need not be
// Debian's.
func zookeeperVersion() string {
	d, err := zkserver.Find()
	if err != nil || d.Version == "" {
		return unknown
	}
	return d.Version
}

// curatorVersion is the version of the jars that the tests in testing/interop use.
func curatorVersion() string {
	if os.Getenv(envMaven) != "" {
		return newestCurator
	}
	return output("dpkg-query", "-W", "-f", "${Version}", "libcurator-recipes-java")
}

// kazooVersion asks the Python that the tests find.
func kazooVersion() string {
	var missing noKazoo
	python := kazootest.Python(&missing)
	if missing {
		return unknown
	}
	return output(python, "-c", "import kazoo.version; print(kazoo.version.__version__)")
}

// clientOf returns the version of a server's client, or none if the server is missing.
func clientOf(server, module string) string {
	if server == unknown {
		return unknown
	}
	return versionFor(module)
}

// versionFor returns the version of a module that the peers in Go use.
func versionFor(module string) string {
	text, _ := os.ReadFile("internal/benchmarks/peers/go.mod") // without it, the version is unknown
	_, rest, _ := strings.Cut(string(text), module+" ")
	return numberIn(firstLine(rest))
}

// noKazoo remembers that kazoo is missing.
type noKazoo bool

func (*noKazoo) Helper()        {}
func (n *noKazoo) Fatal(...any) { *n = true }

const unknown = "unknown"

// output returns what a program prints, or "unknown".
func output(name string, args ...string) string {
	text, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		return unknown
	}
	return strings.TrimSpace(string(text))
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

var version = regexp.MustCompile(`\d+\.\d+\.\d+`)

// numberIn returns the first version in a text.
func numberIn(text string) string {
	if found := version.FindString(text); found != "" {
		return found
	}
	return unknown
}
