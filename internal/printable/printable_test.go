package printable

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// An encoded value has the same meaning, and all of it can be printed.
func TestJSON(t *testing.T) {
	for text, want := range map[string]string{
		"a\u202e\ufeff\x7fb": `"a\u202e\ufeff\u007fb"`,
		"größe/棚 1":          `"größe/棚 1"`,
		"\U000e0001<\n":      `"\udb40\udc01\u003c\n"`,
	} {
		encoded, err := json.Marshal(text)
		require.NoError(t, err)
		got := JSON(encoded)
		require.Equal(t, want, string(got))
		var decoded string
		require.NoError(t, json.Unmarshal(got, &decoded))
		require.Equal(t, text, decoded)
	}
	require.Equal(t, "{\n\t\"a\": 1\n}\n", string(JSON([]byte("{\n\t\"a\": 1\n}\n"))), "white space stays")
}

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
