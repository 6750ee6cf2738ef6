package doccheck

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// phrases are the habits that made a reader start a sentence again.
var phrases = []string{
	"told of", "hears of", "outlasts?", "outlasted", "in trouble", "that of", "those of", "the one that", "none that",
	"behind a (reconnect|look|sync)", "of its own", "of (ours|another's)", "in vain", "made anew", "for want of",
}

var phrase = regexp.MustCompile(`(?i)\b(` + strings.Join(phrases, "|") + `)\b`)

// Phrases checks that neither a comment of the Go files, including tests, nor a
// document has one of the phrases.
func (c *Code) Phrases(documents map[string]string) error {
	var problems []error
	look := func(where, text string) {
		for _, found := range phrase.FindAllString(strings.Join(strings.Fields(text), " "), -1) {
			problems = append(problems, fmt.Errorf("%s: %q", where, found))
		}
	}
	for _, f := range c.files {
		for _, group := range f.Comments {
			look(f.position(group), group.Text())
		}
	}
	for name, text := range documents {
		look(name, text)
	}
	return errors.Join(problems...)
}
