package curatorz

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/debug/snapshot"
)

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

// draw draws the pictures again if that is asked for. It is nil without the build tag
// real.
var draw func(t *testing.T, page string)

// The pictures of the documents show the page as it is now. A picture is not the
// same on all machines, since fonts differ. So each names the page that it was
// drawn from, which is the same everywhere, but for its numbers.
func TestPicture(t *testing.T) {
	_, page := get(t, serve(func(string) snapshot.Snapshot { return livedIn(t) }), "?format=html", "")
	if draw != nil {
		draw(t, page)
	}
	for scheme, file := range pictureFiles {
		picture, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Less(t, len(picture), largestOfFile, file)
		decoded, err := png.Decode(bytes.NewReader(picture))
		require.NoError(t, err)
		require.Equal(t, pictureWidth, decoded.Bounds().Dx())
		require.Equal(t, scheme == "dark", isDark(t, picture))
		require.Equal(t, digest(page), drawnFrom(t, picture), "the page has changed: run go test -tags real ./debug/curatorz -run TestPicture -update, and look at %s", file)
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

// isDark reports whether the page's paper, in the corner, is dark.
func isDark(t *testing.T, shot []byte) bool {
	picture, err := png.Decode(bytes.NewReader(shot))
	require.NoError(t, err)
	corner := picture.At(picture.Bounds().Min.X, picture.Bounds().Min.Y)
	require.NotEqual(t, image.Rectangle{}, picture.Bounds())
	return color.GrayModel.Convert(corner).(color.Gray).Y < 128
}
