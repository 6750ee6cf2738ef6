// Command floors draws docs/floors.svg: the packages of this repository by
// floor, and who imports whom. Run it in the root of the repository:
//
//	go run ./internal/floors
//
// The plan in plan.go says where a package stands. The arrows are read from the
// code, so that they cannot be wrong. To keep the picture legible, an arrow is
// left out if a longer way leads to the same package.
package main

import (
	"fmt"
	"io/fs"
	"os"
)

const target = "docs/floors.svg"

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "floors:", err)
		os.Exit(1)
	}
}

func run() error {
	picture, err := pictureOf(os.DirFS("."))
	if err != nil {
		return err
	}
	return os.WriteFile(target, []byte(picture), 0o644)
}

func pictureOf(tree fs.FS) (string, error) {
	imports, err := importsOf(tree)
	if err != nil {
		return "", err
	}
	return draw(arrows(names(), imports)), nil
}

// names returns the packages that have a box.
func names() (all []string) {
	drawn, _ := boxes()
	for _, b := range drawn {
		all = append(all, b.name)
	}
	return all
}
