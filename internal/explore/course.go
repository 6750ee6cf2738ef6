package explore

import (
	"fmt"
	"slices"
	"sync"
)

// step is a point of a run at which there was a choice.
type step struct {
	Moves int  // the number of moves, including the natural one
	State hash // the state before the move
}

// course is the course of a run: its moves and their outcome.
type course struct {
	choices choices      // the deviations to make
	tell    func(string) // receives each line of the story; may be nil

	mu       sync.Mutex
	steps    []step
	story    []string
	failures []string
	over     bool // further failures are ignored
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
	if !c.over && !slices.Contains(c.failures, text) {
		c.noteLocked("FAILURE: " + text)
		c.failures = append(c.failures, text)
	}
}

// end stops counting failures if the run has failed: everything under way then arrives
// at once, and no check reads the tree in between.
func (c *course) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = len(c.failures) > 0
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
		i = c.choices.at(len(c.steps), len(moves))
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
