package cli

import (
	"strings"
	"unicode"
)

// completion is the set of possible words at the cursor. The scripts read its text.
type completion struct {
	kind  string
	words []string // each may have a description after a tab
}

// The kinds of a completion.
const (
	ofWords   = "words"
	mayGoOn   = "beginnings" // words without a blank after them
	ofFiles   = "files"      // the shell finds files itself
	ofProgram = "program"    // a number follows: the place of the word that begins its command line
)

func (c completion) String() string {
	return c.kind + "\n" + strings.Join(append(c.words, ""), "\n")
}

// add adds a word if it begins with what was typed.
func (c *completion) add(beginning, word, description string) {
	if strings.HasPrefix(word, beginning) {
		c.words = append(c.words, strings.TrimSuffix(word+"\t"+description, "\t"))
	}
}

// among completes a word from a list.
func among(words []string, beginning string) completion {
	found := completion{kind: ofWords}
	for _, w := range words {
		found.add(beginning, w, "")
	}
	if len(found.words) == 1 && strings.HasSuffix(found.words[0], "=") {
		found.kind = mayGoOn
	}
	return found
}

// isSpecial reports whether a shell may give a word a special meaning.
func isSpecial(word string) bool {
	return strings.ContainsFunc(word, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/_.,:@%+=-", r)
	})
}
