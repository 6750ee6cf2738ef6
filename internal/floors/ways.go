package main

import (
	"fmt"
	"slices"
	"strings"
)

// place is where a box is on the page.
type place struct {
	box
	top, row int
}

func (p place) bottom() int { return p.top + boxHeight }

// point is a corner of an arrow, or one of its ends.
type point struct{ x, y int }

// lineOf returns the lines between points, as SVG has them.
func lineOf(points []point) string {
	var b strings.Builder
	for i, p := range points {
		fmt.Fprintf(&b, "%c%d %d", "ML"[min(i, 1)], p.x, p.y)
	}
	return b.String()
}

// An arrow that comes from the side has a height of its own, so that those
// from the row itself and those from above can be told apart.
const (
	fromAbove = boxHeight / 3
	fromRow   = boxHeight * 2 / 3
)

// wayOf returns the way of an arrow: to the right within a row, straight down to
// a box that stands below, and otherwise down and then aside. If there is no way
// around other boxes, it runs through them, and a test says so.
func wayOf(a arrow, places map[string]place) []point {
	from, to := places[a.from], places[a.to]
	if from.row == to.row {
		y := from.top + fromRow
		return []point{{from.right, y}, {to.left, y}}
	}
	if left, right := max(from.left, to.left), min(from.right, to.right); left < right {
		x := freeColumn(left, right, boxesBetween(from.row+1, to.row-1, places))
		return []point{{x, from.bottom()}, {x, to.top}}
	}
	half := (from.left + from.right) / 2 // the other half is for arrows that run straight down
	side, left, right := to.right, from.left, half
	if from.left < to.left {
		side, left, right = to.left, half, from.right
	}
	x, y := freeColumn(left, right, boxesBetween(from.row+1, to.row, places)), to.top+fromAbove
	return []point{{x, from.bottom()}, {x, y}, {side, y}}
}

// boxesBetween returns the boxes of some rows, from the left.
func boxesBetween(first, last int, places map[string]place) (boxes []box) {
	for _, p := range places {
		if first <= p.row && p.row <= last {
			boxes = append(boxes, p.box)
		}
	}
	slices.SortFunc(boxes, func(a, b box) int { return a.left - b.left })
	return boxes
}

// freeColumn returns the middle of the widest gap that boxes, sorted from the
// left, leave between left and right, or the middle of all if they leave none.
func freeColumn(left, right int, boxes []box) (x int) {
	const clear = 6 // the free room on each side of an arrow
	x, widest := (left+right)/2, 0
	note := func(from, to int) {
		if to-from > widest {
			x, widest = (from+to)/2, to-from
		}
	}
	for _, b := range boxes {
		note(left, min(right, b.left-clear))
		left = max(left, b.right+clear)
	}
	note(left, right)
	return x
}
