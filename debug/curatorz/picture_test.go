package curatorz

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
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
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/debug/snapshot"
)

var update = flag.Bool("update", false, "draw the pictures of the documents again")

const (
	pictureWidth  = 1100    // pixels
	pictureEvents = 6       // the picture ends below that many, or README would be mostly picture
	largestOfFile = 150_000 // bytes: README is looked at on telephones, too
)

// pictureFiles are the pictures that the documents show, by color scheme.
var pictureFiles = map[string]string{
	"light": filepath.Join("..", "..", "docs", "debug-page.png"),
	"dark":  filepath.Join("..", "..", "docs", "debug-page-dark.png"),
}

// The pictures of the documents show the page as it is now. A picture is not the
// same on all machines, since fonts differ. So each names the page that it was
// drawn from, which is the same everywhere, but for its numbers.
func TestPicture(t *testing.T) {
	_, page := get(t, serve(func(string) snapshot.Snapshot { return livedIn(t) }), "?format=html", "")
	if *update {
		drawPictures(t, page)
	}
	for scheme, file := range pictureFiles {
		picture, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Less(t, len(picture), largestOfFile, file)
		decoded, err := png.Decode(bytes.NewReader(picture))
		require.NoError(t, err)
		require.Equal(t, pictureWidth, decoded.Bounds().Dx())
		require.Equal(t, scheme == "dark", isDark(t, picture))
		require.Equal(t, digest(page), drawnFrom(t, picture), "the page has changed: run go test ./debug/curatorz -run TestPicture -update, and look at %s", file)
	}
}

// The page of the pictures has what a reader should see.
func TestPictureShowsWhoWaitsForWhom(t *testing.T) {
	c := livedIn(t).Clients[0]
	require.Equal(t, 3, c.Holds.Total)
	require.Equal(t, 3, c.Waits.Total)
	invoices, prices, sku := c.Waits.Items[0], c.Waits.Items[1], c.Waits.Items[2]
	require.Equal(t, "billing@web-2/812", invoices.Holder.ID)
	require.Equal(t, "shipping@web-3/77", invoices.Next.ID, "which waits for billing")
	require.Equal(t, 2, invoices.Ahead)
	require.Equal(t, "pricing@web-4/5", prices.Holder.ID)
	require.Equal(t, prices.Holder, prices.Next)
	require.True(t, sku.Holder.Local)
	require.Equal(t, 1, c.Holds.Items[1].Waiting)
	require.True(t, c.Holds.Items[1].Revoked)
	shown := c.Events[len(c.Events)-pictureEvents:]
	require.True(t, slices.ContainsFunc(shown, func(e snapshot.Event) bool { return e.Kind == "lost" }))
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

// digest returns a digest of a page, but for its times and other numbers: a
// picture need not be drawn again because a request more was sent.
func digest(page string) string {
	head, body, _ := strings.Cut(page, "</style>")
	sum := sha256.Sum256([]byte(head + numbers.ReplaceAllString(body, "N")))
	return hex.EncodeToString(sum[:])
}

var numbers = regexp.MustCompile(`\b[0-9][0-9a-fhmsxµ.]*`)

// A PNG file begins with eight bytes and the chunk of its size. Each chunk has
// the length of its data, a type, the data, and a checksum of both.
const (
	headOfPNG  = 8 + 4 + 4 + 13 + 4
	typeOfText = "tEXt"
	keyword    = "Source\x00page of SHA-256 "
)

// withSource adds to a picture from which page it was drawn.
func withSource(picture []byte, page string) []byte {
	data := typeOfText + keyword + page
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(data)-len(typeOfText)))
	chunk = append(chunk, data...)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE([]byte(data)))
	return slices.Concat(picture[:headOfPNG], chunk, picture[headOfPNG:])
}

// drawnFrom returns from which page a picture was drawn.
func drawnFrom(t *testing.T, picture []byte) (page string) {
	t.Helper()
	_, page, found := strings.Cut(string(picture[headOfPNG:]), typeOfText+keyword)
	require.True(t, found)
	return page[:hex.EncodedLen(sha256.Size)]
}

func TestDigestIsOfAllButNumbers(t *testing.T) {
	const page = `<style>a { margin: 1px }</style> <td title="2026-03-14T14:10:42Z">1m29s</td> held, 0x12`
	require.Equal(t, digest(page), digest(strings.NewReplacer("1m29s", "302ms", "0x12", "17").Replace(page)))
	for _, other := range []string{"held", "1px", "td"} {
		require.NotEqual(t, digest(page), digest(strings.Replace(page, other, "2px", 1)), other)
	}
}
