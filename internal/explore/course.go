package explore

import (
	"fmt"
	"slices"
	"sync"
)

// step is a place of a run at which there was a choice.
type step struct {
	Moves int  // how many there were, the natural one included
	State hash // the state before the move
}

// course is what happens in a run: which moves are made, and what comes of it.
type course struct {
	choices choices      // the deviations to make
	tell    func(string) // nil, or it hears each line of the story

	mu       sync.Mutex
	steps    []step
	story    []string
	failures []string
	over     bool // nothing fails any more
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

// end says that what follows is no failure of its own if the run has failed: all that
// was under way arrives at once then, and no check looks at the tree in between.
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
