// Package doccheck compares README.md, CONTRIBUTING.md and ARCHITECTURE.md with
// the code that they describe, so that they stay true. It also counts the names
// that packages export, and the turns of phrase that make comments hard to read.
package doccheck

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Snippets checks that the lines of every Go block of a document stand, one
// after the other, in one of the texts: they are files that are compiled. The
// indentation does not count. A package clause is ignored, because a program in
// a document is part of a test package in the code.
func Snippets(document string, texts []string) error {
	blocks := goBlocks(document)
	if len(blocks) == 0 {
		return errors.New("no Go block in the document")
	}
	var problems []error
	for _, block := range blocks {
		wanted := plain(block)
		if !slices.ContainsFunc(texts, func(text string) bool {
			return strings.Contains("\n"+plain(text), "\n"+wanted)
		}) {
			problems = append(problems, fmt.Errorf("no test file has this block:\n%s", block))
		}
	}
	return errors.Join(problems...)
}

var goBlock = regexp.MustCompile("(?ms)^```go\n(.*?)^```$")

func goBlocks(document string) (blocks []string) {
	for _, match := range goBlock.FindAllStringSubmatch(document, -1) {
		blocks = append(blocks, match[1])
	}
	return blocks
}

// plain returns the lines of a text without their indentation, and without a
// package clause and the empty lines around it.
func plain(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "package ") || line == "" && b.Len() == 0 {
			continue
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// Dependencies checks that the table in the section "Dependencies" of a
// document has the modules that one of some go.mod files requires directly, and a
// reason for each. Modules of the repository itself do not count.
func Dependencies(document string, goMods ...string) error {
	rows, err := table(document, "Dependencies")
	if err != nil {
		return err
	}
	var modules, own []string
	for _, goMod := range goMods {
		modules = append(modules, directModules(goMod)...)
		name, _, _ := strings.Cut(goMod, "\n")
		own = append(own, strings.TrimPrefix(name, "module "))
	}
	modules = slices.DeleteFunc(modules, func(m string) bool { return slices.Contains(own, m) })
	return same("module", rows, modules)
}

var requirement = regexp.MustCompile(`^(?:require )?([a-z0-9.-]+\.[a-z]+/\S+) v\S+$`)

func directModules(goMod string) (modules []string) {
	for line := range strings.Lines(goMod) {
		if match := requirement.FindStringSubmatch(strings.TrimSpace(line)); match != nil {
			modules = append(modules, match[1])
		}
	}
	return modules
}

// Workspace checks that a go.work uses the folders of all go.mod files.
func Workspace(goWork string, goMods []string) error {
	var problems []error
	for _, goMod := range goMods {
		use := "./" + path.Dir(goMod)
		if path.Dir(goMod) == "." {
			use = "."
		}
		if !strings.Contains(goWork, "\t"+use+"\n") {
			problems = append(problems, fmt.Errorf("go.work does not use %s", use))
		}
	}
	return errors.Join(problems...)
}

// House checks that the table in the section "The house" of a document has the
// folders of a tree that hold Go files, and says what each of them is for.
func House(document string, tree fs.FS) error {
	rows, err := table(document, "The house")
	if err != nil {
		return err
	}
	folders, err := goFolders(tree)
	if err != nil {
		return err
	}
	return same("folder", rows, folders)
}

// goFolders returns the folders that hold Go files, but for hidden ones and
// those named testdata.
func goFolders(tree fs.FS) (folders []string, err error) {
	err = fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && isSkipped(entry.Name()):
			return fs.SkipDir
		case !entry.IsDir() && path.Ext(name) == ".go" && !slices.Contains(folders, path.Dir(name)):
			folders = append(folders, path.Dir(name))
		}
		return nil
	})
	return folders, err
}

func isSkipped(folder string) bool {
	return strings.HasPrefix(folder, ".") || folder == "testdata"
}

// Links checks that each relative link of a document in a tree leads to a file
// or a folder of the tree, and its fragment to a heading of that file. The
// sources of pictures in HTML count, too, and each picture must say in words
// what it shows.
func Links(tree fs.FS, document string) error {
	text, err := fs.ReadFile(tree, document)
	if err != nil {
		return err
	}
	var problems []error
	for _, match := range link.FindAllStringSubmatch(string(text), -1) {
		target := match[1] + match[2]
		if strings.Contains(target, "://") {
			continue
		}
		if err := follow(tree, document, target); err != nil {
			problems = append(problems, fmt.Errorf("%s links to %s: %w", document, target, err))
		}
	}
	for _, picture := range silentPicture.FindAllString(string(text), -1) {
		problems = append(problems, fmt.Errorf("%s has a picture without words: %s", document, picture))
	}
	return errors.Join(problems...)
}

var (
	link          = regexp.MustCompile(`\]\(([^)\s]+)\)|\b(?:src|srcset)="([^"\s]+)"`)
	silentPicture = regexp.MustCompile(`!\[\s*\]\([^)]*\)|<img(?:\s+(?:[b-z][a-z]*="[^"]*"|alt=""))*\s*>`)
)

func follow(tree fs.FS, document, target string) error {
	file, fragment, hasFragment := strings.Cut(target, "#")
	name := document
	if file != "" {
		name = path.Join(path.Dir(document), file)
	}
	if _, err := fs.Stat(tree, name); err != nil || !hasFragment {
		return err
	}
	text, err := fs.ReadFile(tree, name)
	if err != nil {
		return err
	}
	for _, match := range heading.FindAllStringSubmatch(string(text), -1) {
		if anchor(match[1]) == fragment {
			return nil
		}
	}
	return fmt.Errorf("no heading #%s", fragment)
}

var (
	heading     = regexp.MustCompile(`(?m)^#+ (.+)$`)
	notInAnchor = regexp.MustCompile(`[^a-z0-9 _-]`)
)

// anchor returns the fragment that GitHub gives to a heading.
func anchor(heading string) string {
	plain := notInAnchor.ReplaceAllString(strings.ToLower(heading), "")
	return strings.ReplaceAll(plain, " ", "-")
}

// table returns the rows of the first table in a section of a document: the
// first column, without a link or backquotes, and the second.
func table(document, section string) (map[string]string, error) {
	_, text, found := strings.Cut(document, "\n## "+section+"\n")
	if !found {
		return nil, fmt.Errorf("no section %q", section)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	_, text, _ = strings.Cut(text, "\n|---")
	rows := map[string]string{}
	for _, match := range tableRow.FindAllStringSubmatch(text, -1) {
		name := strings.Trim(linkText.ReplaceAllString(match[1], "$1"), "`")
		if _, twice := rows[name]; twice {
			return nil, fmt.Errorf("%q has %s twice", section, name)
		}
		rows[name] = strings.TrimSpace(match[2])
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("no table in %q", section)
	}
	return rows, nil
}

var (
	tableRow = regexp.MustCompile(`(?m)^\| ([^|]+?) \|([^|]*)\|$`)
	linkText = regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`)
)

// same checks that rows describes what there is, and nothing else.
func same(kind string, rows map[string]string, there []string) error {
	var problems []error
	for _, name := range there {
		if text, listed := rows[name]; !listed {
			problems = append(problems, fmt.Errorf("%s %s is not in the table", kind, name))
		} else if text == "" {
			problems = append(problems, fmt.Errorf("%s %s has no description", kind, name))
		}
	}
	for name := range rows {
		if !slices.Contains(there, name) {
			problems = append(problems, fmt.Errorf("%s %s is in the table, and does not exist", kind, name))
		}
	}
	return errors.Join(problems...)
}
