package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// These are the sizes of the picture, in pixels: two plots side by side.
const (
	plotWidth, plotHeight = 330, 240
	left, top, gap        = 60, 40, 90
	pictureWidth          = left + 2*plotWidth + gap + 120
	pictureHeight         = top + plotHeight + 50
)

const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-labelledby="title">
<!-- Drawn by go run ./internal/benchmarks -->
<title id="title">Requests and memory by the size of the crowd</title>
<style>
text { font: 12px ui-sans-serif, system-ui, sans-serif; fill: #1f2328; }
.title { font-weight: 600; }
.grid { stroke: #d1d9e0; }
.line { fill: none; stroke-width: 2; }
.end { text-anchor: end; }
.middle { text-anchor: middle; }
.goroutines { stroke: #0969da; } .clients { stroke: #bc4c00; } .locks { stroke: #1a7f37; }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc; }
  .grid { stroke: #3d444d; }
  .goroutines { stroke: #4493f8; } .clients { stroke: #db6d28; } .locks { stroke: #3fb950; }
}
</style>
`

// plot returns the picture of the growth. The sizes of crowds are on a logarithmic
// scale, and their costs on a linear one.
func plot(r results) string {
	var b strings.Builder
	fmt.Fprintf(&b, head, pictureWidth, pictureHeight)
	rows := r.of("Growth")
	drawPlot(&b, left, "Requests of one acquire and release", rows, "reqs", 1)
	drawPlot(&b, left+plotWidth+gap, "Kilobytes of one contender or lock", rows, "B", 1000)
	drawLegend(&b, left+2*plotWidth+gap+20)
	b.WriteString("</svg>\n")
	return b.String()
}

func drawLegend(b *strings.Builder, x int) {
	for i, crowd := range crowds {
		y := top + 20*i
		fmt.Fprintf(b, `<path class="line %s" d="M%d %d h20"/><text x="%d" y="%d">%s</text>`+"\n",
			crowd, x, y, x+26, y+4, crowd)
	}
}

func drawPlot(b *strings.Builder, x int, title string, rows []row, unit string, per float64) {
	most, sizes := 1.0, 1.0
	for _, line := range rows {
		_, n := crowdOf(line)
		most, sizes = max(most, line.metrics[unit]/per), max(sizes, n)
	}
	most = roundUp(most)
	place := func(n, value float64) string {
		return fmt.Sprintf("%.1f %.1f", float64(x)+plotWidth*math.Log10(n)/math.Log10(sizes),
			top+plotHeight*(1-value/per/most))
	}
	fmt.Fprintf(b, `<text class="title" x="%d" y="%d">%s</text>`+"\n", x, top-16, title)
	for i := range 5 {
		value := most * float64(i) / 4
		y := top + plotHeight - plotHeight*i/4
		fmt.Fprintf(b, `<line class="grid" x1="%d" y1="%d" x2="%d" y2="%d"/><text class="end" x="%d" y="%d">%s</text>`+"\n",
			x, y, x+plotWidth, y, x-6, y+4, strconv.FormatFloat(value, 'g', 3, 64))
	}
	for n := 1.0; n <= sizes; n *= 10 {
		fmt.Fprintf(b, `<text class="middle" x="%.1f" y="%d">%.0f</text>`+"\n",
			float64(x)+plotWidth*math.Log10(n)/math.Log10(sizes), top+plotHeight+20, n)
	}
	for _, crowd := range crowds {
		var path []string
		for _, line := range rows {
			if name, n := crowdOf(line); name == crowd {
				path = append(path, place(n, line.metrics[unit]))
			}
		}
		if len(path) > 0 {
			fmt.Fprintf(b, `<path class="line %s" d="M%s"/>`+"\n", crowd, strings.Join(path, " L"))
		}
	}
	fmt.Fprintf(b, `<text class="middle" x="%d" y="%d">contenders, or locks</text>`+"\n", x+plotWidth/2, top+plotHeight+40)
}

// crowds are the kinds of crowds, in the order of their lines.
var crowds = []string{"goroutines", "clients", "locks"}

// crowdOf returns the kind of a crowd, and its size.
func crowdOf(line row) (name string, n float64) {
	name, size, _ := strings.Cut(line.name, "/n=")
	n, _ = strconv.ParseFloat(size, 64)
	return name, n
}

// roundUp returns the next number with one figure that four steps divide.
func roundUp(value float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(value)))
	for _, times := range []float64{1, 2, 4, 8} {
		if times*unit >= value {
			return times * unit
		}
	}
	return 20 * unit
}
