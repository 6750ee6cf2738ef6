package explore

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Deviation is a move other than the natural one.
type deviation struct {
	Step int // counted from 0
	Move int // counted from 1
}

// choices are the deviations of a run, in the order of their steps. Every other
// move is the natural one.
type choices []deviation

// String writes choices as Replay takes them.
func (c choices) String() string {
	var texts []string
	for _, d := range c {
		texts = append(texts, strconv.Itoa(d.Step), strconv.Itoa(d.Move))
	}
	return strings.Join(texts, ", ")
}

// choicesOf reads what String has written.
func choicesOf(numbers []int) (choices, error) {
	if len(numbers)%2 != 0 {
		return nil, fmt.Errorf("explore: %d numbers, which are no pairs", len(numbers))
	}
	var c choices
	for i := 0; i < len(numbers); i += 2 {
		d := deviation{numbers[i], numbers[i+1]}
		if d.Step < 0 || d.Move < 1 || len(c) > 0 && c[len(c)-1].Step >= d.Step {
			return nil, fmt.Errorf("explore: step %d with move %d does not come after the others", d.Step, d.Move)
		}
		c = append(c, d)
	}
	return c, nil
}

var deviationInStory = regexp.MustCompile(`^\[(\d+), (\d+)\] `)

// choicesIn finds the deviations in a story.
func choicesIn(story []string) (c choices) {
	for _, line := range story {
		if m := deviationInStory.FindStringSubmatch(line); m != nil {
			step, _ := strconv.Atoi(m[1]) // which are digits
			move, _ := strconv.Atoi(m[2])
			c = append(c, deviation{step, move})
		}
	}
	return c
}

// step is a place of a run at which there was a choice.
type step struct {
	Moves int  // how many there were, the natural one included
	State hash // before the move
}

// course is what happens in a run: which moves are made, and what comes of it.
type course struct {
	choose chooser      // the move to make
	tell   func(string) // nil, or it hears each line of the story

	mu       sync.Mutex
	steps    []step
	story    []string
	failures []string
}

// maxStory bounds the story of a run that does not come to rest.
const maxStory = 10_000

// note adds a line to the story. It may be called from any goroutine.
func (c *course) note(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.noteLocked(text)
}

func (c *course) noteLocked(text string) {
	if len(c.story) < maxStory {
		c.story = append(c.story, text)
	}
	if c.tell != nil {
		c.tell(text)
	}
}

// fail notes that the run has failed.
func (c *course) fail(format string, args ...any) {
	text := canonical(fmt.Sprintf(format, args...))
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Contains(c.failures, text) {
		c.noteLocked("FAILURE: " + text)
		c.failures = append(c.failures, text)
	}
}

func (c *course) failed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.failures) > 0
}

// next chooses one of the moves.
func (c *course) next(state hash, moves []move) move {
	i := 0
	if len(moves) > 1 {
		i = c.choose(len(c.steps), moves)
		c.steps = append(c.steps, step{len(moves), state})
	}
	chosen := moves[i]
	if i > 0 {
		c.note(fmt.Sprintf("[%d, %d] %s", len(c.steps)-1, i, chosen.text))
	} else {
		c.note(chosen.text)
	}
	return chosen
}
