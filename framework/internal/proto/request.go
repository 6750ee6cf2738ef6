package proto

import "github.com/gocurator/curator/framework/internal/jute"

// Request is one request to a server, and how to read the answer to it.
type Request[T any] struct {
	Op     int32
	Append func(b []byte) []byte // appends what follows the RequestHeader

	// NoNodeIsAnswer means that CodeNoNode is an answer and no failure: the
	// zero value of T.
	NoNodeIsAnswer bool

	path createdPath // of a Create

	// read is Read. It makes the jute.Reader by itself: passed to a function that
	// may be any, that would be an allocation.
	read func(created createdPath, body []byte, zxid int64) (answer T, ok bool)
}

// Read reads what follows the ReplyHeader of an answer with CodeOK. The zxid is
// the header's: for a write, that is the write's own transaction.
func (q Request[T]) Read(body []byte, zxid int64) (answer T, ok bool) {
	return q.read(q.path, body, zxid)
}

// Nothing is the answer to a request that is answered by its header alone.
type Nothing struct{}

func readNothing(createdPath, []byte, int64) (Nothing, bool) { return Nothing{}, true }

func readPath(_ createdPath, body []byte, _ int64) (string, bool) {
	r := jute.NewReader(body)
	path := r.String()
	return path, !r.Bad()
}

func readStatAnswer(_ createdPath, body []byte, _ int64) (*Stat, bool) {
	r := jute.NewReader(body)
	stat := readStat(r)
	return stat, !r.Bad()
}
