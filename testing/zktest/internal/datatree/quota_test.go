package datatree

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestQuotaValues(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "count=-1,bytes=-1",
		"count=3,bytes=5":           "count=3,bytes=5",
		"bytes=5,count=3":           "count=3,bytes=5",
		"count=,bytes=x,nonsense":   "count=-1,bytes=-1",
		"count=1,bytes=2=;b=4;a=-3": "count=1,bytes=2=;a=-3;b=4",
	} {
		require.Equal(t, want, string(parseQuota([]byte(text)).encode()), text)
	}
}
