package doccheck

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Prose is what the comments of one package look like. Each kind of Place makes
// a reader go back to find out what a comment is about. The shares of well-read
// packages of the standard library are the measure.
type Prose struct {
	Trailing  int // comments behind code
	Sentences int
	Lines     int
	Places    []Place
}

// Place is one turn of phrase.
type Place struct {
	Kind     string // fragment, that-of or comma-of
	Position string
	Text     string
}

// These are the turns of phrase, and how many of them a package may have.
var (
	// A fragment is a comment behind code that begins as if a sentence went on:
	// "of the loop". A noun does as well: "the loop's".
	fragment  = regexp.MustCompile(`^(of|in|when|as|by|that|which|also|ends|at|and|with|to|who|else|before|on|where|from|without|until|unless|so|since|is|are|has|after|whose|behind|under|while|does|but|than|because|even)\b`)
	thatOf    = regexp.MustCompile(`\b(that|those) of\b`)
	commaOf   = regexp.MustCompile(`, of\b`)
	endOfText = regexp.MustCompile(`[.!?:](\s|$)`)

	shares = []struct {
		kind string
		most func(p *Prose) int
	}{
		{"fragment", func(p *Prose) int { return p.Trailing * 8 / 100 }},
		{"that-of", func(p *Prose) int { return max(1, p.Sentences*2/1000) }},
		{"comma-of", func(p *Prose) int { return p.Lines * 3 / 10_000 }},
	}
)

// Prose returns what the comments of each folder look like, outside of tests.
func (c *Code) Prose() map[string]*Prose {
	all := map[string]*Prose{}
	for _, f := range c.files {
		if f.isTest() {
			continue
		}
		folder := path.Dir(f.name)
		if all[folder] == nil {
			all[folder] = &Prose{}
		}
		for _, group := range f.Comments {
			all[folder].add(f, group)
		}
	}
	return all
}

func (p *Prose) add(f source, group *ast.CommentGroup) {
	text := strings.Join(strings.Fields(group.Text()), " ")
	if text == "" { // it is for a tool
		return
	}
	p.Lines += strings.Count(group.Text(), "\n")
	p.Sentences += max(1, len(endOfText.FindAllString(text, -1)))
	if f.isBehindCode(group) {
		p.Trailing++
		p.find("fragment", fragment, f.position(group), text)
	}
	p.find("that-of", thatOf, f.position(group), text)
	p.find("comma-of", commaOf, f.position(group), text)
}

func (p *Prose) find(kind string, phrase *regexp.Regexp, position, text string) {
	for _, at := range phrase.FindAllStringIndex(text, -1) {
		p.Places = append(p.Places, Place{kind, position, text[max(0, at[0]-40):min(len(text), at[1]+40)]})
	}
}

func (f source) isBehindCode(group *ast.CommentGroup) bool {
	at := f.set.Position(group.Pos()).Offset
	line := f.text[bytes.LastIndexByte(f.text[:at], '\n')+1 : at]
	return len(bytes.TrimSpace(line)) > 0
}

// Readable checks that no folder has more of a turn of phrase than its share,
// or than the folder may have until somebody mends it.
func Readable(prose map[string]*Prose, unmended map[string]int) error {
	var problems []error
	for _, folder := range slices.Sorted(maps.Keys(prose)) {
		p := prose[folder]
		tooMany := p.tooMany()
		if len(tooMany) <= unmended[folder] {
			continue
		}
		for _, place := range tooMany {
			problems = append(problems, fmt.Errorf("%s: %s: %s", place.Position, place.Kind, place.Text))
		}
		problems = append(problems, fmt.Errorf("%s has %d such places, and may have %d", folder, len(tooMany), unmended[folder]))
	}
	return errors.Join(problems...)
}

// tooMany returns the places of each kind of which there are more than the share.
func (p *Prose) tooMany() (places []Place) {
	for _, share := range shares {
		var those []Place
		for _, place := range p.Places {
			if place.Kind == share.kind {
				those = append(those, place)
			}
		}
		if len(those) > share.most(p) {
			places = append(places, those...)
		}
	}
	return places
}
