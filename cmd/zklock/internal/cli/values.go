package cli

import (
	"flag"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Alias gives a flag another name, usually a long one.
func Alias(fs *flag.FlagSet, name, other string) {
	f := fs.Lookup(name)
	fs.Var(f.Value, other, f.Usage)
}

// Seconds defines a flag whose value is a duration or, as in flock(1), a number of
// seconds. The value must not be negative.
func Seconds(fs *flag.FlagSet, name string, value time.Duration, usage string) *time.Duration {
	d := value
	SecondsVar(fs, &d, name, usage)
	return &d
}

// SecondsVar is Seconds for a variable, whose present value is the default.
func SecondsVar(fs *flag.FlagSet, d *time.Duration, name, usage string) {
	fs.Var((*seconds)(d), name, usage)
}

type seconds time.Duration

func (v *seconds) String() string { return time.Duration(*v).String() }

func (v *seconds) Set(s string) error {
	d, err := parseSeconds(s)
	if err != nil {
		return err
	}
	*v = seconds(d)
	return nil
}

// parseSeconds reads "90", "0.5", "1m30s" and the like.
func parseSeconds(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if n, numErr := strconv.ParseFloat(s, 64); numErr == nil {
		d, err = time.Duration(n*float64(time.Second)), nil
		if math.IsNaN(n) || math.Abs(n) > math.MaxInt64/float64(time.Second) {
			err = strconv.ErrRange
		}
	}
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is not a duration, such as 90, 0.5 or 1m30s", s)
	}
	return d, nil
}

// NumberVar defines a flag whose value is a number between bounds. The present value of
// n is the default.
func NumberVar(fs *flag.FlagSet, n *int, name string, least, most int, usage string) {
	fs.Var(&number{n, least, most}, name, usage)
}

type number struct {
	n           *int
	least, most int
}

func (v *number) String() string {
	if v.n == nil {
		return "" // package flag asks a zero value
	}
	return strconv.Itoa(*v.n)
}

func (v *number) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < v.least || n > v.most {
		return fmt.Errorf("%q is not a number from %d to %d", s, v.least, v.most)
	}
	*v.n = n
	return nil
}

// WordVar defines a flag whose value is one of a list of words. The noun, such as
// "format", names the value in errors. The present value of word is the default.
func WordVar[T ~string](fs *flag.FlagSet, word *T, name, noun, usage string, words ...T) {
	fs.Var(&choice[T]{word, noun, words}, name, usage)
}

type choice[T ~string] struct {
	word  *T
	noun  string
	words []T
}

func (v *choice[T]) String() string {
	if v.word == nil {
		return "" // package flag asks a zero value
	}
	return string(*v.word)
}

func (v *choice[T]) Set(s string) error {
	if !slices.Contains(v.words, T(s)) {
		return fmt.Errorf("%q is no %s: %s", s, v.noun, inWords(v.Choices()))
	}
	*v.word = T(s)
	return nil
}

// Choices implements Chooser.
func (v *choice[T]) Choices() []string {
	var words []string
	for _, w := range v.words {
		words = append(words, string(w))
	}
	return words
}

// inWords lists words: "table, wide or json".
func inWords(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// Chooser makes completion work for the value of a flag that implements it.
type Chooser interface {
	// Choices returns the possible words. A word that ends with "=" is incomplete.
	Choices() []string
}
