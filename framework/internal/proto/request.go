package proto

import "github.com/gocurator/curator/framework/internal/jute"

// Request is one request to a server, and how to read the answer to it.
type Request[T any] struct {
	Op     int32
	Append func(b []byte) []byte // appends what follows the RequestHeader

	// NoNodeIsAnswer means that CodeNoNode is an answer and no failure: the
	// zero value of T.
	NoNodeIsAnswer bool

	read func(r *jute.Reader, zxid int64) T
}

// Read reads what follows the ReplyHeader of an answer with CodeOK. The zxid is
// the header's: for a write, that is the write's own transaction.
func (q Request[T]) Read(body []byte, zxid int64) (answer T, ok bool) {
	r := jute.NewReader(body)
	answer = q.read(r, zxid)
	return answer, !r.Bad()
}

// Nothing is the answer to a request that is answered by its header alone.
type Nothing struct{}

func readNothing(*jute.Reader, int64) Nothing      { return Nothing{} }
func readPath(r *jute.Reader, _ int64) string      { return r.String() }
func readStatAnswer(r *jute.Reader, _ int64) *Stat { return readStat(r) }
