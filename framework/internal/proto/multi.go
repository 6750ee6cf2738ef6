package proto

import "github.com/gocurator/curator/framework/internal/jute"

// Part is one operation of a multi. Only Create, SetData, Delete and Check have
// a meaning there.
type Part struct {
	op     int32
	append func([]byte) []byte
}

// Part returns the request as an operation of a multi.
func (q Request[T]) Part() Part { return Part{q.Op, q.Append} }

// MultiAnswer is the answer to a Multi.
type MultiAnswer struct {
	Parts  []PartAnswer // one for each operation; of no use if one has failed
	Zxid   int64        // the transaction of all operations
	Failed int          // index of the operation that has failed, or -1
	Code   int32        // the failed operation's error code
}

// PartAnswer is the answer to one operation of a multi.
type PartAnswer struct {
	Path string // a created node's
	Stat *Stat  // a written node's; for a created one, only some servers tell it
}

// Multi carries out all operations or none, in order. Each part is a request of
// its own behind a header that says which one.
func Multi(parts ...Part) Request[MultiAnswer] {
	return Request[MultiAnswer]{Op: OpMulti, Append: func(b []byte) []byte {
		for _, part := range parts {
			b = part.append(appendMultiHeader(b, part.op, false))
		}
		return appendMultiHeader(b, OpError, true)
	}, read: readMultiAnswer}
}

func appendMultiHeader(b []byte, op int32, done bool) []byte {
	const noError = -1
	return jute.AppendInt32(jute.AppendBool(jute.AppendInt32(b, op), done), noError)
}

// readMultiAnswer reads a part for each operation. The parts of a multi that
// has failed are errors:
//
//   - CodeOK for each operation before the one that has failed.
//   - The code of the operation that has failed.
//   - One and the same code for each operation behind it.
func readMultiAnswer(body []byte, zxid int64) (MultiAnswer, bool) {
	r := jute.NewReader(body)
	a := MultiAnswer{Zxid: zxid, Failed: -1}
	for i := 0; !r.Bad(); i++ {
		op, done := r.Int32(), r.Bool()
		r.Int32() // an error code, which is repeated behind the header if the part is an error
		if done {
			return a, !r.Bad()
		}
		var part PartAnswer
		switch op {
		case OpCreate:
			part.Path = r.String()
		case OpCreate2: // newer servers' answer for containers and for nodes with a TTL, too
			part.Path, part.Stat = r.String(), readStat(r)
		case OpSetData:
			part.Stat = readStat(r)
		case OpError:
			if code := r.Int32(); code != CodeOK && a.Failed < 0 {
				a.Failed, a.Code = i, code
			}
		}
		a.Parts = append(a.Parts, part)
	}
	return a, false
}

// ReadAnswer is the answer to one operation of a MultiRead, which has Data and
// Stat, or of a MultiChildren, which has Names.
type ReadAnswer struct {
	Data  []byte // a part of the message
	Stat  *Stat
	Names []string // not nil, also if there are none
	Code  int32    // CodeOK, or why this operation has failed
}

// MultiReadAnswer is the answer to a MultiRead or a MultiChildren.
type MultiReadAnswer struct {
	Reads []ReadAnswer // one for each operation
	Zxid  int64        // all of them have read the state after this transaction
}

// MultiRead asks for the data of several nodes. Each operation succeeds or fails
// by itself.
func MultiRead(paths ...string) Request[MultiReadAnswer] { return multiRead(OpGetData, paths) }

// MultiChildren asks for the names of the children of several nodes, as MultiRead
// asks for their data. The answer has no Stat.
func MultiChildren(paths ...string) Request[MultiReadAnswer] { return multiRead(OpGetChildren, paths) }

func multiRead(op int32, paths []string) Request[MultiReadAnswer] {
	return Request[MultiReadAnswer]{Op: OpMultiRead, Append: func(b []byte) []byte {
		for _, path := range paths {
			b = pathAndWatch(path, false)(appendMultiHeader(b, op, false))
		}
		return appendMultiHeader(b, OpError, true)
	}, read: readMultiReadAnswer}
}

func readMultiReadAnswer(body []byte, zxid int64) (MultiReadAnswer, bool) {
	r := jute.NewReader(body)
	a := MultiReadAnswer{Zxid: zxid}
	for !r.Bad() {
		op, done := r.Int32(), r.Bool()
		r.Int32() // an error code, which is repeated behind the header if the part is an error
		if done {
			return a, !r.Bad()
		}
		var part ReadAnswer
		switch op {
		case OpGetData:
			part.Data, part.Stat = r.Buffer(), readStat(r)
		case OpGetChildren:
			part.Names = readNames(r)
		default:
			part.Code = r.Int32()
		}
		a.Reads = append(a.Reads, part)
	}
	return a, false
}
