// Package doccheck compares the documents of the repository with its code: Go
// blocks must be compiled, and links and names must exist. It also counts the
// names that packages export.
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

// Snippets checks that every Go block of a document occurs in one of the texts,
// which are files that the compiler sees. Indentation does not count. Snippets
// ignores package clauses, because a program of a document is part of a test
// package in the code.
func Snippets(document string, texts []string) error {
	var problems []error
	for _, block := range goBlocks(document) {
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

// goFolders returns the folders that hold Go files, except hidden folders and folders
// named testdata.
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

// Links checks that each relative link of a document in a tree leads to a file or a
// folder of the tree, and its fragment to a heading of that file. The sources of
// pictures in HTML count, too, and each picture must have a text in words.
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
