package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/gocurator/curator/testing/zkserver"
)

// debianServer is the version of Debian's package zookeeper. Its tests run with
// that: Maven's server of the same version has other patches.
const debianServer = "3.8.0"

type prepare = func(ctx context.Context) ([]string, error)

// serverEnv lets Maven fetch a server, and makes sure that it is of the version.
func serverEnv(version string) prepare {
	return func(context.Context) ([]string, error) {
		env := map[string]string{"ZOOKEEPER_HOME": "", "CURATOR_ZOOKEEPER_MAVEN": version}
		if version == debianServer {
			env["CURATOR_ZOOKEEPER_MAVEN"] = ""
		}
		var words []string
		for name, value := range env {
			defer restore(name, os.Getenv(name))
			if err := os.Setenv(name, value); err != nil {
				return nil, err
			}
			if value != "" {
				words = append(words, name+"="+value)
			}
		}
		d, err := zkserver.Find()
		if err != nil {
			return nil, err
		}
		if d.Version != version {
			return nil, fmt.Errorf("found ZooKeeper %s (%s)", d.Version, d.Origin)
		}
		return words, nil
	}
}

func restore(name, value string) { _ = os.Setenv(name, value) }

// kazooEnv takes Debian's kazoo if it has the version, and otherwise lets pip
// fetch it into the user's cache.
func kazooEnv(version string) prepare {
	return func(ctx context.Context) ([]string, error) {
		const debian = "/usr/bin/python3"
		if hasKazoo(ctx, debian, version) == nil {
			return []string{"PATH=/usr/bin:" + os.Getenv("PATH")}, nil
		}
		venv, err := fetched("kazoo-"+version, func(work string) error {
			if err := quietly(exec.CommandContext(ctx, "python3", "-m", "venv", work)); err != nil {
				return err
			}
			return quietly(exec.CommandContext(ctx, filepath.Join(work, "bin", "python"), "-m", "pip", "install", "-q", "kazoo=="+version))
		})
		if err != nil {
			return nil, err
		}
		python := filepath.Join(venv, "bin", "python")
		return []string{"PATH=" + filepath.Dir(python) + string(filepath.ListSeparator) + os.Getenv("PATH")}, hasKazoo(ctx, python, version)
	}
}

func hasKazoo(ctx context.Context, python, version string) error {
	out, err := exec.CommandContext(ctx, python, "-c", "import kazoo.version; print(kazoo.version.__version__)").Output()
	if err != nil {
		return fmt.Errorf("%s has no kazoo: %w", python, err)
	}
	if found := strings.TrimSpace(string(out)); found != version {
		return fmt.Errorf("%s has kazoo %s", python, found)
	}
	return nil
}

// goEnv asks for the newest Go of a minor version that can be fetched.
func goEnv(version string) prepare {
	return func(ctx context.Context) ([]string, error) {
		list := exec.CommandContext(ctx, "go", "list", "-m", "-versions", "-f", `{{join .Versions "\n"}}`, "go")
		out, err := list.Output()
		if err != nil {
			return nil, fmt.Errorf("the versions of Go: %w", err)
		}
		newest := ""
		for line := range strings.Lines(string(out)) {
			line = strings.TrimSpace(line)
			if patch := strings.TrimPrefix(line, version+"."); patch != line && !strings.ContainsAny(patch, "rcbeta") {
				newest = line // they are sorted
			}
		}
		if newest == "" {
			return nil, fmt.Errorf("no version of Go %s is listed", version)
		}
		env := []string{"GOTOOLCHAIN=go" + newest}
		try := exec.CommandContext(ctx, "go", "version")
		try.Env = append(os.Environ(), env...)
		return env, quietly(try)
	}
}

func systemEnv(system string) []string {
	name, arch, _ := strings.Cut(system, "/")
	return []string{"GOOS=" + name, "GOARCH=" + arch, "CGO_ENABLED=0"}
}

// fetched returns a directory in the user's cache. If it is not there, fetch
// fills it. What was left half filled by an error is deleted.
func fetched(name string, fetch func(dir string) error) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "curator-compatibility", name)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	if err := fetch(dir); err != nil {
		_ = os.RemoveAll(dir)
		return "", err
	}
	return dir, nil
}

// quietly runs a command, whose output is part of the error.
func quietly(cmd *exec.Cmd) error {
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", filepath.Base(cmd.Path), err, strings.TrimSpace(string(out)))
	}
	return nil
}
