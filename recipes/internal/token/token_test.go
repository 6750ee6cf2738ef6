package token_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/internal/token"
)

func TestTextIsParsed(t *testing.T) {
	for owner, text := range map[string]string{
		"/locks/ledger/_c_1-lock-0000000003": "4294967299 /locks/ledger/_c_1-lock-0000000003",
		"/a b,c/ü%2F":                        "4294967299 /a%20b%2Cc/%C3%BC%252F",
	} {
		require.Equal(t, text, token.Text(1<<32+3, owner))
		number, path, err := token.Parse(text)
		require.NoError(t, err)
		require.EqualValues(t, 1<<32+3, number)
		require.Equal(t, owner, path)
	}
}

func TestOtherTextIsRefused(t *testing.T) {
	for _, text := range []string{
		"", " ", "7", "7 ", " /a", "x /a", "7 a", "7 /a/", "7 //a", "7 /a/../b", "7  /a", "7,8 /a", "7 /%zz", "7 /%ff",
		"0 /a", "-7 /a", "9223372036854775808 /a", "0x7 /a", "+7 /a", "007 /a",
		"7 /a b", "7 /a/x, 8 /a/y", "7 /a/x,8", "7 /ü", "7 /a%00", "7 /a%0ab",
	} {
		_, _, err := token.Parse(text)
		require.ErrorContains(t, err, "is not a positive number", text)
	}
}
