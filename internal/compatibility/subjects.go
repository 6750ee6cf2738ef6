package main

import "context"

// A subject is something in one version that the library works with.
type subject struct {
	kind    string // the table of the page
	version string
	checks  []check // the columns of the table, the same for all of a kind
}

func (s subject) name() string { return s.kind + " " + s.version }

// A check is one run of the go command.
type check struct {
	name string
	args []string // the go command's arguments
	env  []string // such as "A=b"

	// prepare makes sure that the run is with that version, for example by
	// fetching it, and returns what else the environment needs. Nil is nothing.
	prepare func(ctx context.Context) (env []string, err error)

	// counted says which tests count, by the ends of their names. Empty is all.
	counted string

	// compiles says that the run has no tests: it passes if it succeeds.
	compiles bool
}

// slow tests are about the library, and not about what it works with: they are
// those that .ci/quick leaves out, TestNoHerd, which sums up its subtests, and
// those that measure time, which a busy machine fails.
const slow = "EveryAwaitPoint|EveryRequest|Random|Thousand|LargeTree|Lease.*Reported|TestNoHerd|ShortTime"

// The packages whose scenarios run on a real server, in subtests named "real".
var onServers = []string{
	"./recipes/locks", "./recipes/leader", "./recipes/nodes", "./recipes/shared",
	"./recipes/atomic", "./recipes/barriers", "./recipes/inspect",
}

const kindServer, kindJava, kindKazoo, kindGo, kindSystem = "ZooKeeper", "Java Curator", "kazoo", "Go", "System"

// subjects returns what the page is about, in its order.
func subjects() []subject {
	var all []subject
	for _, version := range []string{
		"3.9.5", "3.9.4", "3.9.3", "3.9.2", "3.9.1", "3.9.0",
		"3.8.6", "3.8.5", "3.8.4", "3.8.3", debianServer, "3.7.2", "3.6.4", "3.5.10",
	} {
		all = append(all, serverSubject(version))
	}
	for _, version := range []string{"5.9.0", "5.4.0"} {
		all = append(all, javaSubject(version))
	}
	for _, version := range []string{"2.11.0", "2.10.0", "2.8.0"} {
		all = append(all, kazooSubject(version))
	}
	for _, version := range []string{"1.26", "1.25"} {
		all = append(all, goSubject(version))
	}
	for _, system := range []string{"linux/amd64", "linux/arm64", "darwin/arm64", "darwin/amd64", "windows/amd64"} {
		all = append(all, systemSubject(system))
	}
	return all
}

func serverSubject(version string) subject {
	recipes := []string{"test", "-tags", "real", "-vet=off", "-count=1", "-timeout", "20m", "-run", "/^real$", "-skip", slow}
	return subject{kindServer, version, []check{
		{
			name: "the recipes on it", counted: "/real",
			args: append(recipes, onServers...), prepare: serverEnv(version),
		},
		{
			name:    "zktest does as it does",
			args:    []string{"test", "-tags", "real", "-vet=off", "-count=1", "-timeout", "20m", "-run", "Conform", "./testing/zktest"},
			prepare: serverEnv(version),
		},
	}}
}

func javaSubject(version string) subject {
	return subject{kindJava, version, []check{{
		name: "shares recipes with ours",
		args: []string{
			"test", "-tags", "real", "-vet=off", "-count=1", "-timeout", "20m", "-skip", "Kazoo",
			"./testing/interop", "-curator", version,
		},
	}}}
}

func kazooSubject(version string) subject {
	return subject{kindKazoo, version, []check{{
		name:    "shows its locks to ours, and runs on zktest",
		args:    []string{"test", "-tags", "real", "-vet=off", "-count=1", "-timeout", "20m", "-run", "Kazoo", "./testing/interop"},
		prepare: kazooEnv(version),
	}}}
}

func goSubject(version string) subject {
	return subject{kindGo, version, []check{{
		name: "tests in virtual time",
		args: []string{
			"test", "-count=1",
			"./state", "./retry", "./framework", "./recipes/...", "./tracing",
		},
		prepare: goEnv(version),
	}}}
}

func systemSubject(system string) subject {
	return subject{kindSystem, system, []check{{
		name: "compiles, tests included", compiles: true,
		args: []string{"vet", "./..."}, env: systemEnv(system),
	}}}
}
