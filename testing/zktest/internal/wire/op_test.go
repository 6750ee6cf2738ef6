package wire

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOpCoversItsVariants(t *testing.T) {
	for op, variants := range map[Op][]Op{
		OpCreate:      {OpCreate2, OpCreateContainer, OpCreateTTL},
		OpGetChildren: {OpGetChildren2},
		OpSetWatches:  {OpSetWatches2},
	} {
		for _, variant := range variants {
			require.True(t, op.Covers(variant))
			require.False(t, variant.Covers(op))
			require.True(t, variant.Covers(variant))
			require.True(t, OpAny.Covers(variant))
		}
	}
	require.False(t, OpAny.Covers(OpPing))
	require.False(t, OpAny.Covers(OpConnect))
}

func TestOpAndCodeHaveNames(t *testing.T) {
	require.Equal(t, "createContainer", OpCreateContainer.String())
	require.Equal(t, "op(77)", Op(77).String())
	require.Equal(t, "zktest: no node (-101)", ErrNoNode.Error())
	require.True(t, strings.HasPrefix(Code(-999).Error(), "zktest: unknown"))
	require.NoError(t, OK.Err())
}

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
