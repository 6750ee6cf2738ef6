package main

import (
	"bytes"
	"fmt"
	"html"
	"path"
	"time"

	"github.com/gocurator/curator/internal/semconv"
)

// Positions in the picture, in pixels. From left to right there are names,
// durations, room for links, and bars.
const (
	pictureWidth = 960
	nameLeft     = 12
	tookRight    = 218
	// The first link; each further one is a little left of it.
	linkLeft   = 236
	barsLeft   = 256
	barsRight  = 920
	top        = 8
	laneHead   = 46
	rowHeight  = 26
	barHeight  = 16
	footHeight = 66
	charWidth  = 7 // an upper bound for one character of text
)

// The picture has no background. So all colours of text are about as far from
// white as from black, and can be read on both.
const style = `
  text { font: 12px ui-sans-serif, system-ui, "Segoe UI", "DejaVu Sans", sans-serif; fill: #6f7a86 }
  .lane { font-size: 15px; font-weight: 600 }
  .trace { font-size: 12px; font-weight: 400 }
  .took, .before { text-anchor: end }
  .tick { text-anchor: middle }
  .rule, .grid { stroke: #6f7a86; stroke-opacity: .5 }
  .grid { stroke-opacity: .18 }
  .request { fill: #7b8ea6 }
  .work { fill: #a9b6c6 }
  .acquire { fill: #e2a33c }
  .hold { fill: #45ad8d }
  .in { fill: #1b1f24 }
  .link, .handover { fill: none; stroke-width: 1.6 }
  .link { stroke: #8a63d2; stroke-dasharray: 5 3 }
  .handover { stroke: #2b8a6e }
  .tip-link { fill: #8a63d2 } .tip-handover { fill: #2b8a6e }
  .of-link { fill: #8a63d2 }
  .of-handover { fill: #2b8a6e }
`

// picture draws traces as lanes of bars on one axis of time.
type picture struct {
	bytes.Buffer
	begin time.Time
	total time.Duration
	lanes []*span           // the roots
	head  map[*span]float64 // y of each lane's head, by root
	row   map[*span]float64 // y of the middle of each span's bar
	lane  map[*span]*span   // the root of each span
	end   float64           // y below the last bar
	links int               // number of links so far
}

// draw returns the traces as an SVG image.
func draw(traces []*span) []byte {
	p := &picture{
		lanes: traces,
		head:  map[*span]float64{}, row: map[*span]float64{}, lane: map[*span]*span{},
	}
	p.layOut()
	fmt.Fprintf(p, `<svg xmlns="http://www.w3.org/2000/svg"`+
		` width="%d" height="%.0f" viewBox="0 0 %[1]d %.0[2]f" role="img">`,
		pictureWidth, p.end+footHeight)
	fmt.Fprintf(p, "\n<title>Traces of services that want the same lock</title>\n<style>%s</style>\n", style)
	for _, kind := range []string{"link", "handover"} {
		fmt.Fprintf(p, `<marker id="%s" viewBox="0 0 8 8" refX="7" refY="4"`+
			` markerWidth="7" markerHeight="7" orient="auto">`+
			`<path class="tip-%[1]s" d="M0 0L8 4L0 8z"/></marker>`+"\n", kind)
	}
	p.axis()
	for _, root := range p.lanes {
		p.drawLane(root)
	}
	for _, root := range p.lanes { // above all bars
		root.walk(0, func(s *span, _ int) { p.arrows(s) })
	}
	p.legend()
	p.WriteString("</svg>\n")
	return p.Bytes()
}

// layOut sets the position of every span.
func (p *picture) layOut() {
	y := float64(top)
	var end time.Time
	for i, root := range p.lanes {
		if i == 0 {
			p.begin = root.start
		}
		p.head[root] = y
		y += laneHead
		root.walk(0, func(s *span, _ int) {
			p.row[s], p.lane[s] = y+rowHeight/2, root
			y += rowHeight
			if s.end.After(end) {
				end = s.end
			}
		})
		y += 10
	}
	p.end, p.total = y, max(end.Sub(p.begin), time.Millisecond)
}

// x returns the position of a time.
func (p *picture) x(t time.Time) float64 {
	return barsLeft + (barsRight-barsLeft)*float64(t.Sub(p.begin))/float64(p.total)
}

func (p *picture) text(x, y float64, class, format string, args ...any) {
	text := html.EscapeString(fmt.Sprintf(format, args...))
	fmt.Fprintf(p, `<text x="%.1f" y="%.1f" class="%s">%s</text>`+"\n", x, y, class, text)
}

func (p *picture) line(x1, y1, x2, y2 float64, class string) {
	fmt.Fprintf(p, `<path d="M%.1f %.1fL%.1f %.1f" class="%s"/>`+"\n", x1, y1, x2, y2, class)
}

func (p *picture) bar(x, y, width float64, class string) {
	fmt.Fprintf(p, `<rect x="%.1f" y="%.1f" width="%.1f" height="%d" rx="2" class="%s"/>`+"\n",
		x, y, width, barHeight, class)
}

// axis draws the axis of time, with at most eight steps of 1, 2, 5, 10 and so
// on.
func (p *picture) axis() {
	step := time.Microsecond
	for i := 0; p.total > 8*step; i++ {
		step = step * []time.Duration{4, 5, 4}[i%3] / 2
	}
	p.line(barsLeft, p.end, barsRight, p.end, "rule")
	for at := time.Duration(0); at <= p.total; at += step {
		x := p.x(p.begin.Add(at))
		p.line(x, top, x, p.end+4, "grid")
		p.text(x, p.end+18, "tick", "%v", at)
	}
}

func (p *picture) drawLane(root *span) {
	y := p.head[root]
	p.line(nameLeft, y, pictureWidth-nameLeft, y, "rule")
	fmt.Fprintf(p, `<text x="%d" y="%.1f" class="lane">%s`+
		`<tspan dx="10" class="trace">trace %s</tspan></text>`+"\n",
		nameLeft, y+28, html.EscapeString(root.service), short(root.trace))
	root.walk(0, func(s *span, depth int) {
		y := p.row[s]
		p.text(nameLeft+16*float64(depth), y+4, "name", "%s", s.name)
		p.text(tookRight, y+4, "took", "%v", round(s.took()))
		width := max(p.x(s.end)-p.x(s.start), 2)
		p.bar(p.x(s.start), y-barHeight/2, width, class(s))
		if label := label(s); label != "" && charWidth*float64(len(label)) < width {
			p.text(p.x(s.start)+6, y+4, "in", "%s", label)
		}
	})
}

func class(s *span) string {
	switch {
	case s.isAcquire():
		return "acquire"
	case s.isHold():
		return "hold"
	case s.parent == "":
		return "request"
	default:
		return "work"
	}
}

// label returns the text of a bar, which is drawn if there is room.
func label(s *span) string {
	switch {
	case s.waited():
		return fmt.Sprintf("position %d, behind %s", s.attributes.number(semconv.LockPosition), s.behind())
	case s.isHold():
		return "holds " + s.attributes.text(semconv.LockPath)
	default:
		return ""
	}
}

// arrows draws the links of an acquire and the hand-over to it.
func (p *picture) arrows(s *span) {
	if !s.isAcquire() {
		return
	}
	for _, l := range s.links {
		if p.lane[l.to] != nil {
			p.arrowOfLink(s, l)
		}
	}
	for _, e := range s.events {
		if e.name != semconv.EventHandedOver {
			continue
		}
		if from := p.holdOf(e.attributes.text(semconv.LockPredNode)); from != nil {
			p.arrowOfHandOver(from, s, e)
		}
	}
}

// holdOf returns the hold with a node of this name, or nil.
func (p *picture) holdOf(node string) (found *span) {
	for s := range p.row {
		if s.isHold() && path.Base(s.attributes.text(semconv.LockNode)) == node {
			found = s
		}
	}
	return found
}

// arrowOfLink draws an arrow around all bars, on the left.
func (p *picture) arrowOfLink(from *span, l link) {
	x := linkLeft - 6*float64(p.links)
	p.links++
	p.arrow("link", p.x(from.start), p.row[from], x, p.x(l.to.start), p.row[l.to])
	p.text(x+8, p.head[p.lane[from]]+19, "of-link", "link to the %s, trace %s", l.kind, short(l.trace))
}

// arrowOfHandOver draws an arrow down or up, on the right of both bars.
func (p *picture) arrowOfHandOver(from, to *span, e event) {
	x := max(p.x(from.end), p.x(to.end)) + 14
	p.arrow("handover", p.x(from.end), p.row[from], x, p.x(to.end), p.row[to])
	caption := "handed over at once" // the waiter had no need to ask a server
	if took := round(e.attributes.seconds(semconv.LockHandOff)); took > 0 {
		caption = fmt.Sprintf("handed over in %v", took)
	}
	if y := p.head[p.lane[to]] + 37; x+8+charWidth*float64(len(caption)) > pictureWidth {
		p.text(x-8, y, "of-handover before", "%s", caption)
	} else {
		p.text(x+8, y, "of-handover", "%s", caption)
	}
}

// arrow draws an arrow from one bar to another by way of x.
func (p *picture) arrow(kind string, x1, y1, x, x2, y2 float64) {
	fmt.Fprintf(p, `<path d="M%.1f %.1fH%.1fV%.1fH%.1f" class="%s" marker-end="url(#%[6]s)"/>`+"\n",
		x1, y1, x, y2, x2, kind)
}

// legend explains the colours.
func (p *picture) legend() {
	x, y := float64(barsLeft), p.end+34
	for _, e := range []struct{ class, text string }{
		{"request", "request"}, {"work", "work"},
		{"acquire", "acquire: waits for the lock"}, {"hold", "hold: has the lock"},
	} {
		p.bar(x, y, 22, e.class)
		p.text(x+30, y+12, "name", "%s", e.text)
		x += 54 + charWidth*float64(len(e.text))
	}
}
