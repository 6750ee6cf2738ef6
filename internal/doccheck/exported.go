package doccheck

import (
	"errors"
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"
)

// Exported returns the exported names of each public package, by its folder:
// functions, types, methods of exported types, constants and variables, as
// users see them in its documentation. Fields, and the methods of interfaces,
// are parts of their types and do not count. A folder below one that is named
// internal, cmd or examples has no public package, and tests export nothing.
func (c *Code) Exported() map[string][]string {
	all := map[string][]string{}
	for _, f := range c.files {
		folder := path.Dir(f.name)
		if f.isTest() || !isPublic(folder) {
			continue
		}
		for _, name := range topLevel(f.File) {
			if isExported(name) {
				all[folder] = append(all[folder], name)
			}
		}
	}
	return all
}

func isPublic(folder string) bool {
	return !slices.ContainsFunc(strings.Split(folder, "/"), func(part string) bool {
		return part == "internal" || part == "cmd" || part == "examples"
	})
}

// isExported reports whether users see "New", or "Lease.Release".
func isExported(name string) bool {
	of, method, isMethod := strings.Cut(name, ".")
	return ast.IsExported(of) && (!isMethod || ast.IsExported(method))
}

// Budget compares the numbers of names that packages export with the numbers
// that they may export, and their sum with a limit of its own. The error says
// what to do.
func Budget(exported map[string][]string, most map[string]int, total int) error {
	var problems []error
	sum := 0
	for folder, names := range exported {
		sum += len(names)
		if len(names) > most[folder] {
			problems = append(problems, fmt.Errorf("%s exports %d names, and may export %d", folder, len(names), most[folder]))
		}
	}
	for folder := range most {
		if _, there := exported[folder]; !there {
			problems = append(problems, fmt.Errorf("%s may export names, and exports none", folder))
		}
	}
	if sum > total {
		problems = append(problems, fmt.Errorf("all packages export %d names, and may export %d", sum, total))
	}
	if len(problems) == 0 {
		return nil
	}
	slices.SortFunc(problems, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return fmt.Errorf("%w\nUnexport what no user's program needs. If one needs it, raise the number on purpose, "+
		"and say in CHANGELOG.md what the new name is for", errors.Join(problems...))
}
