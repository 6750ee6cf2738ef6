package printable

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestString(t *testing.T) {
	for in, want := range map[string]string{
		"":                     "",
		"/locks/sku-42":        "/locks/sku-42",
		"/größe/棚 1":           "/größe/棚 1",
		`/with "quotes" \ `:    `/with "quotes" \ `,
		"/a\x00b":              `"/a\x00b"`,
		"/a\nb":                `"/a\nb"`,
		"/\u202ea":             `"/\u202ea"`,
		"/\u2028":              `"/\u2028"`,
		"/\ufeff":              `"/\ufeff"`,
		"/\xff":                `"/\xff"`,
		"/\U000e0001":          `"/\U000e0001"`,
		"/a\x1b[31m \"quote\"": `"/a\x1b[31m \"quote\""`,
	} {
		require.Equal(t, want, String(in))
	}
}
