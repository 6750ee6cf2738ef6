package explore

import (
	"fmt"
	"strconv"
	"strings"
)

// deviation is a move other than the natural one.
type deviation struct {
	Step int // counted from 0
	Move int // counted from 1
}

// choices are the deviations of a run, in the order of their steps. At every other
// step, the run makes the natural move.
type choices []deviation

// String writes choices in the form of Replay's arguments.
func (c choices) String() string {
	var texts []string
	for _, d := range c {
		texts = append(texts, strconv.Itoa(d.Step), strconv.Itoa(d.Move))
	}
	return strings.Join(texts, ", ")
}

// choicesOf parses the form of String.
func choicesOf(numbers []int) (choices, error) {
	if len(numbers)%2 != 0 {
		return nil, fmt.Errorf("explore: %d numbers do not form pairs", len(numbers))
	}
	var c choices
	for i := 0; i < len(numbers); i += 2 {
		d := deviation{numbers[i], numbers[i+1]}
		if d.Step < 0 || d.Move < 1 || len(c) > 0 && c[len(c)-1].Step >= d.Step {
			return nil, fmt.Errorf("explore: step %d with move %d is out of order", d.Step, d.Move)
		}
		c = append(c, d)
	}
	return c, nil
}

// at returns the number of the move that is made at a step: 0 for the natural one.
func (c choices) at(step, moves int) int {
	for _, d := range c {
		if d.Step == step && d.Move < moves {
			return d.Move
		}
	}
	return 0
}
