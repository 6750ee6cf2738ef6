package zktest

import (
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// The list of requests in MODEL.md is the list in the code, number by number.
func TestDocumentationListsEveryRequest(t *testing.T) {
	source, err := os.ReadFile("MODEL.md")
	require.NoError(t, err)
	listed := make(map[wire.Op]string)
	for _, row := range regexp.MustCompile(`(?m)^\| (-?[0-9]+) \| (\w+) \|`).FindAllStringSubmatch(string(source), -1) {
		number, err := strconv.Atoi(row[1])
		require.NoError(t, err)
		listed[wire.Op(number)] = row[2]
	}
	known := map[wire.Op]string{wire.OpCheck: wire.OpCheck.String()} // only inside a multi
	for op := range writes {
		known[op] = op.String()
	}
	for op := range others {
		known[op] = op.String()
	}
	require.Equal(t, known, listed)
}
