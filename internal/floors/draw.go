package main

import (
	"fmt"
	"html"
	"strings"
)

// The page, in pixels.
const (
	pageWidth = 1100
	margin    = 10
	boxHeight = 30
	rowHeight = 58
	floorGap  = 14 // between two floors, and around the rows of one
	labelAt   = margin + 10
)

// style has the colours for a light page, and for a dark one. They are those of
// GitHub's pages.
const style = `
text { font: 13px ui-sans-serif, system-ui, sans-serif; fill: #1f2328; }
.floor { fill: #f6f8fa; stroke: #d1d9e0; }
.name { font-weight: 600; fill: #59636e; }
.box { fill: #ffffff; stroke: #57606a; }
.other { stroke-dasharray: 4 3; }
.label { text-anchor: middle; dominant-baseline: central; }
.arrow { fill: none; stroke: #0969da; stroke-width: 1.3; }
.head { fill: #0969da; }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc; }
  .floor { fill: #151b23; stroke: #3d444d; }
  .name { fill: #9198a1; }
  .box { fill: #0d1117; stroke: #9198a1; }
  .arrow { stroke: #4493f8; }
  .head { fill: #4493f8; }
}
`

// head is the begin of the picture: the size, the style and the floors follow.
const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-labelledby="title">
<!-- Drawn by go run ./internal/floors -->
<title id="title">The packages by floor, and who imports whom</title>
<style>%s</style>
<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
<path class="head" d="M0 0 8 4 0 8z"/></marker></defs>
%s`

// draw returns the picture of the plan with these arrows.
func draw(all []arrow) string {
	places, floors, height := layOut()
	var b strings.Builder
	fmt.Fprintf(&b, head, pageWidth, height, style, floors)
	for _, f := range plan {
		for _, r := range f.rows {
			for _, of := range r {
				drawBox(&b, places[of.name])
			}
		}
	}
	for _, a := range all {
		fmt.Fprintf(&b, `<path class="arrow" marker-end="url(#head)" d="%s"><title>%s imports %s</title></path>`+"\n",
			lineOf(wayOf(a, places)), a.from, a.to)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// layOut finds the place of each box, and draws the floors behind them.
func layOut() (places map[string]place, floors string, height int) {
	places = map[string]place{}
	var b strings.Builder
	y, row := margin, 0
	for _, f := range plan {
		top := y
		y += floorGap
		for _, r := range f.rows {
			for _, of := range r {
				places[of.name] = place{of, y, row}
			}
			y += rowHeight
			row++
		}
		y -= rowHeight - boxHeight - floorGap
		drawFloor(&b, f.name, top, y)
		y += floorGap
	}
	drawFloor(&b, "helpers", y, y+boxHeight+2*floorGap)
	fmt.Fprintf(&b, `<text x="130" y="%d" dominant-baseline="central">%s</text>`+"\n", y+floorGap+boxHeight/2, helperNames())
	return places, b.String(), y + boxHeight + 2*floorGap + margin
}

func helperNames() string {
	var names []string
	for _, h := range helpers {
		names = append(names, strings.TrimPrefix(h, "internal/"))
	}
	return "internal/: " + strings.Join(names, ", ")
}

// drawFloor draws the band of a floor, with one word of its name a line.
func drawFloor(b *strings.Builder, name string, top, bottom int) {
	fmt.Fprintf(b, `<rect class="floor" x="%d" y="%d" width="%d" height="%d" rx="6"/>`+"\n", margin, top, pageWidth-2*margin, bottom-top)
	for i, line := range lines(name) {
		fmt.Fprintf(b, `<text class="name" x="%d" y="%d">%s</text>`+"\n", labelAt, top+26+17*i, html.EscapeString(line))
	}
}

// lines breaks the name of a floor where it would reach the boxes.
func lines(name string) (all []string) {
	const longest = 14
	for word := range strings.FieldsSeq(name) {
		if n := len(all); n > 0 && len(all[n-1])+len(word) < longest {
			all[n-1] += " " + word
			continue
		}
		all = append(all, word)
	}
	return all
}

func drawBox(b *strings.Builder, p place) {
	class := "box"
	if isOther(p.name) {
		class = "box other"
	}
	fmt.Fprintf(b, `<g><title>%s</title><rect class="%s" x="%d" y="%d" width="%d" height="%d" rx="4"/><text class="label" x="%d" y="%d">%s</text></g>`+"\n",
		html.EscapeString(p.name), class, p.left, p.top, p.right-p.left, boxHeight,
		(p.left+p.right)/2, p.top+boxHeight/2, html.EscapeString(p.text()))
}

// isOther reports whether a box is another module.
func isOther(name string) bool {
	host, _, _ := strings.Cut(name, "/")
	return strings.Contains(host, ".")
}
