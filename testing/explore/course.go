package explore

import (
	"fmt"
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

// step is a place of a run at which there was a choice.
type step struct {
	Moves int  // how many there were, the natural one included
	State hash // before the move
}

// course is what happens in a run: which moves are made, and what comes of it.
type course struct {
	choose chooser

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
	if len(c.story) < maxStory {
		c.story = append(c.story, text)
	}
}

// fail notes that the run has failed.
func (c *course) fail(format string, args ...any) {
	text := canonical(fmt.Sprintf(format, args...))
	c.note("FAILURE: " + text)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failures = append(c.failures, text)
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
