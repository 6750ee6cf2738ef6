package framework

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework/internal/jute"
)

// answers are the readers of all answers that have a body.
var answers = []func(*jute.Reader){
	func(r *jute.Reader) { getDataRequest("/", false).answer(r, 0) },
	func(r *jute.Reader) { existsRequest("/", false).answer(r, 0) },
	func(r *jute.Reader) { childrenRequest("/", false).answer(r, 0) },
	func(r *jute.Reader) { createRequest(nil, newNode{}).answer(r, 0) },
	func(r *jute.Reader) { readACL(r) },
	func(r *jute.Reader) { readTxnAnswer(r, 0) },
	func(r *jute.Reader) { answerPath(r, 0) },
	func(r *jute.Reader) { ParseEnsembleConfig(r.Buffer()) },
}

// Whatever a server answers, no reader panics or takes more memory than in
// proportion to it.
func FuzzAnswers(f *testing.F) {
	huge := jute.AppendInt32(nil, 0x7fffffff)
	for kind := range answers {
		f.Add(kind, []byte{})
		f.Add(kind, huge)
		f.Add(kind, append(jute.AppendInt32(nil, 100), make([]byte, 1200)...))
		f.Add(kind, jute.AppendString(nil, "server.1=a:1:2:participant;0.0.0.0:2181\nversion=1"))
		f.Add(kind, append(jute.AppendInt32(nil, opCreate2), make([]byte, 1<<10)...))
		f.Add(kind, append(jute.AppendInt32(nil, opError), make([]byte, 1<<10)...))
	}
	f.Fuzz(func(t *testing.T, kind int, body []byte) {
		read := answers[uint(kind)%uint(len(answers))]
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		read(jute.NewReader(body))
		runtime.ReadMemStats(&after)
		require.LessOrEqual(t, after.TotalAlloc-before.TotalAlloc, uint64(256<<10+64*len(body)))
	})
}
