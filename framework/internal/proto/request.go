package proto

import "github.com/gocurator/curator/framework/internal/jute"

// Request is one request to a server, with the function that reads its answer.
type Request[T any] struct {
	Op     int32
	Append func(b []byte) []byte // appends the bytes after the RequestHeader

	// NoNodeIsAnswer means that CodeNoNode is a valid answer, the zero value of T, and
	// not a failure.
	NoNodeIsAnswer bool

	path createdPath // of a Create

	// read is Read. It creates the jute.Reader itself, because passing the Reader to an
	// unknown function would allocate.
	read func(created createdPath, body []byte, zxid int64) (answer T, ok bool)
}

// Read reads the bytes after the ReplyHeader of an answer with CodeOK. The zxid comes
// from the header: for a write, it is the write's own transaction.
func (q Request[T]) Read(body []byte, zxid int64) (answer T, ok bool) {
	return q.read(q.path, body, zxid)
}

// Nothing is the answer to a request whose answer is only a header.
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
