package cli

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A word that is far from all others is no slip of the finger.
func TestDidYouMean(t *testing.T) {
	known := []string{"run", "revoke", "ls", "--hold"}
	for word, want := range map[string]string{
		"rn": "run", "runn": "run", "rum": "run", "revke": "revoke", "rewoge": "revoke", "--hodl": "--hold", "l": "ls",
		"": "", "x": "", "list": "", "ruin": "run", "nonsense": "", "ß": "",
	} {
		if want != "" {
			want = "; did you mean " + want + "?"
		}
		require.Equal(t, want, didYouMean(word, known), word)
	}
}
