package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// listed is a package as go list tells of it. A package with its test files is
// a package of its own, and so is an external test package.
type listed struct {
	ImportPath string // a space and more follow if only one program of tests has it
	Dir        string
	GoFiles    []string
	ImportMap  map[string]string // the ImportPaths of imports that the source names differently
	ForTest    string            // the path of the package that is tested
	Module     *struct {
		Main      bool // it is this one
		GoVersion string
	}
}

const fields = "ImportPath,Dir,GoFiles,ImportMap,ForTest,Module"

// list returns packages as they are on a system, dependencies first.
func list(system, pattern string) (packages []listed, err error) {
	cmd := exec.Command("go", "list", "-deps", "-test", "-json="+fields, pattern)
	cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, &stderr)
	}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		switch err := decoder.Decode(&p); err {
		case nil:
			packages = append(packages, p)
		case io.EOF:
			return packages, nil
		default:
			return nil, fmt.Errorf("go list: %w", err)
		}
	}
}
