package wire

import (
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEveryCodeHasAName(t *testing.T) {
	source, err := os.ReadFile("code.go")
	require.NoError(t, err)
	rows := regexp.MustCompile(`(?m)^\tErr\w+ +Code = (-[0-9]+)`).FindAllStringSubmatch(string(source), -1)
	require.NotEmpty(t, rows)
	for _, row := range rows {
		number, err := strconv.Atoi(row[1])
		require.NoError(t, err)
		require.Contains(t, codeNames, Code(number))
	}
	require.EqualError(t, ErrQuotaExceeded, "zktest: quota exceeded (-125)")
	require.EqualError(t, Code(-999), "zktest: unknown error (-999)")
}
