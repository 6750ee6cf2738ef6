package doccheck

import (
	"go/ast"
	"path"
	"slices"
	"strings"
)

// Exported returns the exported names of each public package, by its folder: functions,
// types, methods of exported types, constants and variables, as users see them in its
// documentation. Fields, and the methods of interfaces, are parts of their types and do
// not count. A folder below internal, cmd or examples has no public package, and tests
// export nothing.
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
