//go:build real

package curatorz

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"flag"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "draw the pictures of the documents again")

func init() {
	draw = func(t *testing.T, page string) {
		t.Helper()
		if *update {
			drawPictures(t, page)
		}
	}
}

// drawPictures draws a page in each color scheme.
func drawPictures(t *testing.T, page string) {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		setHeaders(w.Header(), formats[0])
		w.Write([]byte(page))
	}))
	defer srv.Close()
	b := startBrowser(t)
	for scheme, file := range pictureFiles {
		b.screen(pictureWidth, 800, scheme)
		b.load(srv.URL)
		shot, err := png.Decode(bytes.NewReader(b.screenshot()))
		require.NoError(t, err)
		last := fmt.Sprintf("document.querySelector('#client-1-events tbody tr:nth-child(%d)')", pictureEvents)
		height := int(eval[float64](b, last+".getBoundingClientRect().bottom"))
		var small bytes.Buffer
		encoder := png.Encoder{CompressionLevel: png.BestCompression}
		require.NoError(t, encoder.Encode(&small, withFewColors(shot, height)))
		require.NoError(t, os.WriteFile(file, withSource(small.Bytes(), digest(page)), 0o666))
	}
}

// withFewColors returns the upper part of a picture in its 256 most frequent
// colors, which takes a third of the room.
func withFewColors(p image.Image, height int) image.Image {
	counts := map[color.Color]int{}
	bounds := p.Bounds()
	bounds.Max.Y = bounds.Min.Y + height
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			counts[p.At(x, y)]++
		}
	}
	colors := slices.SortedFunc(maps.Keys(counts), func(a, b color.Color) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(fmt.Sprint(a), fmt.Sprint(b)))
	})
	few := image.NewPaletted(bounds, colors[:min(len(colors), 256)])
	nearest := map[color.Color]uint8{}
	for c := range counts {
		nearest[c] = uint8(few.Palette.Index(c))
	}
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			few.SetColorIndex(x, y, nearest[p.At(x, y)])
		}
	}
	return few
}

// withSource adds to a picture from which page it was drawn.
func withSource(picture []byte, page string) []byte {
	data := typeOfText + keyword + page
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(data)-len(typeOfText)))
	chunk = append(chunk, data...)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE([]byte(data)))
	return slices.Concat(picture[:headOfPNG], chunk, picture[headOfPNG:])
}
