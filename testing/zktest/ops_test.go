package zktest

import (
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// The list of requests in the package documentation is that of the code, number by number.
func TestDocumentationListsEveryRequest(t *testing.T) {
	source, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	listed := make(map[Op]string)
	for _, row := range regexp.MustCompile(`(?m)^//\t *(-?[0-9]+) (\w+)`).FindAllStringSubmatch(string(source), -1) {
		number, err := strconv.Atoi(row[1])
		require.NoError(t, err)
		listed[Op(number)] = row[2]
	}
	known := map[Op]string{OpCheck: OpCheck.String()} // only inside a multi
	for op := range writes {
		known[op] = op.String()
	}
	for op := range others {
		known[op] = op.String()
	}
	require.Equal(t, known, listed)
}

// Every number has an answer: requests that are known are not called unimplemented, and all others are. The two whose
// body has to be sound come with one.
func TestEveryNumberIsAnswered(t *testing.T) {
	bodies := map[Op][]any{OpAuth: {0, "digest", []byte("joe:secret")}, OpSASL: {[]byte("token")}}
	for op := Op(-20); op < 130; op++ {
		bubble(t, func(t *testing.T, srv *Server) {
			_, isWrite := writes[op]
			_, isOther := others[op]
			r := login(t, srv).call(op, bodies[op]...)
			require.Equal(t, !isWrite && !isOther, r.code == ErrUnimplemented, "%v: %v", op, r.code)
		})
	}
}

// Codes and requests have names, for those who read failures.
func TestEveryNumberHasAName(t *testing.T) {
	for op := range others {
		require.Contains(t, opNames, op)
	}
	for op := range writes {
		require.Contains(t, opNames, op)
	}
	source, err := os.ReadFile("protocol.go")
	require.NoError(t, err)
	for _, row := range regexp.MustCompile(`(?m)^\tErr\w+ +Code = (-[0-9]+)`).FindAllStringSubmatch(string(source), -1) {
		number, err := strconv.Atoi(row[1])
		require.NoError(t, err)
		require.Contains(t, codeNames, Code(number))
	}
	require.EqualError(t, ErrQuotaExceeded, "zktest: quota exceeded (-125)")
	require.EqualError(t, Code(-999), "zktest: unknown error (-999)")
}
