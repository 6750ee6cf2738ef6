package main

import (
	"fmt"
	"strings"
	"time"

	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

const pictureHead = `<svg xmlns="http://www.w3.org/2000/svg" width="960" height="368" viewBox="0 0 960 368" role="img">
<title>Traces of services that want the same lock</title>
<style>
  text { font: 12px ui-sans-serif, system-ui, "Segoe UI", "DejaVu Sans", sans-serif; fill: #6f7a86 }
  .service { font-size: 15px; font-weight: 600 }
  .took { text-anchor: end }
  .grid { stroke: #6f7a86; stroke-opacity: .25 }
  .request { fill: #7b8ea6 } .work { fill: #a9b6c6 } .acquire { fill: #e2a33c } .hold { fill: #45ad8d }
  .in { fill: #1b1f24 }
  .arrow { fill: none; stroke: #8a63d2; stroke-width: 1.6 }
  .link { stroke-dasharray: 5 3 }
  .tip { fill: #8a63d2 }
</style>
<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
<path class="tip" d="M0 0L8 4L0 8z"/></marker>
`

// drawTraces draws the spans in the order of printTraces: a bar for each span, a dashed arrow
// for each link, and an arrow from the end of a hold to the end of the acquire that it delayed.
func drawTraces(spans tracetest.SpanStubs) string {
	svg := []byte(pictureHead)
	draw := func(format string, args ...any) { svg = fmt.Appendf(svg, format+"\n", args...) }
	x := func(t time.Time) float64 { return 256 + 0.4*float64(t.Sub(spans[0].StartTime).Milliseconds()) }
	for tick := time.Duration(0); tick <= 1500*time.Millisecond; tick += 500 * time.Millisecond {
		at := x(spans[0].StartTime.Add(tick))
		draw(`<path d="M%.1f 8V338" class="grid"/><text x="%.1f" y="356">%v</text>`, at, at, tick)
	}
	service, y := "", 0
	row := map[trace.SpanID]int{} // the middle of a span's bar
	hold := map[trace.TraceID]tracetest.SpanStub{}
	for _, s := range spans {
		if name := origin(s); name != service {
			service, y = name, y+52
			draw(`<text x="12" y="%d" class="service">%s</text>`, y-22, service)
		}
		kind, _, _ := strings.Cut(s.Name, " ")
		switch {
		case !s.Parent.IsValid():
			kind = "request"
		case kind == "hold":
			hold[s.SpanContext.TraceID()] = s
		case kind != "acquire":
			kind = "work"
		}
		row[s.SpanContext.SpanID()] = y
		from, to := x(s.StartTime), x(s.EndTime)
		draw(`<text x="28" y="%d">%s</text><text x="218" y="%d" class="took">%v</text>`,
			y+4, s.Name, y+4, s.EndTime.Sub(s.StartTime))
		draw(`<rect x="%.1f" y="%d" width="%.1f" height="16" rx="2" class="%s"/>`, from, y-8, max(to-from, 2), kind)
		label := details(s.Attributes)
		for _, e := range s.Events {
			if e.Name == "watching" {
				label = details(e.Attributes)
			}
		}
		if label != "" && to-from > 300 {
			draw(`<text x="%.1f" y="%d" class="in">%s</text>`, from+6, y+4, strings.TrimSpace(label))
		}
		if kind == "acquire" && len(s.Links) == 1 {
			link := s.Links[0].SpanContext
			holder := hold[link.TraceID()]
			end, above := x(holder.EndTime), row[holder.SpanContext.SpanID()]
			draw(`<path d="M%.1f %dH236V%dH256" class="arrow link" marker-end="url(#tip)"/>`, from, y, row[link.SpanID()])
			draw(`<text x="244" y="%d" class="tip">link to the holder</text>`, y-75)
			draw(`<path d="M%.1f %dH%.1fV%dH%.1f" class="arrow" marker-end="url(#tip)"/>`, end, above, end+14, y, to)
			draw(`<text x="%.1f" y="%d" class="took">handed over at once</text>`, end+6, y-75)
		}
		y += 26
	}
	return string(svg) + "</svg>\n"
}
