package proto

import (
	"bytes"

	"github.com/gocurator/curator/framework/internal/jute"
)

// Part is one operation of a multi: a Create, SetData, Delete or Check.
type Part struct {
	op     int32
	append func([]byte) []byte
	path   createdPath // of a Create
}

// Part returns the request as an operation of a multi.
func (q Request[T]) Part() Part { return Part{q.Op, q.Append, q.path} }

// MultiAnswer is the answer to a Multi.
type MultiAnswer struct {
	Parts  []PartAnswer // one for each operation; meaningless if one has failed
	Zxid   int64        // the transaction of all operations
	Failed int          // index of the operation that has failed, or -1
	Code   int32        // the failed operation's error code
}

// PartAnswer is the answer to one operation of a multi.
type PartAnswer struct {
	Path string // a created node's
	Stat *Stat  // a written node's; only some servers send it for a created node
}

// Multi carries out all operations or none, in order. Each part is a header with the
// operation, followed by the request.
func Multi(parts ...Part) Request[MultiAnswer] {
	return Request[MultiAnswer]{Op: OpMulti, Append: func(b []byte) []byte {
		for _, part := range parts {
			b = part.append(appendMultiHeader(b, part.op, false))
		}
		return appendMultiHeader(b, OpError, true)
	}, read: func(_ createdPath, body []byte, zxid int64) (MultiAnswer, bool) {
		a, errors, ok := readMultiAnswer(body, zxid, parts)
		return a, ok && len(a.Parts) == len(parts) && a.isAllOrNothing(errors)
	}}
}

// CheckOfRoot is a transaction that changes nothing: a check that there is a node "/",
// whatever its version is. CheckOfRoot needs no rights: if the client may not read "/", the
// check fails, but is proposed like any other transaction (PrepRequestProcessor).
var CheckOfRoot = Multi(Check("/", AnyVersion).Part())

// IsCommitted reports whether a majority has committed a CheckOfRoot. A check in a session
// that is over or has moved to another server proves nothing.
func (a MultiAnswer) IsCommitted() bool { return a.Failed < 0 || a.Code == CodeNoAuth }

func appendMultiHeader(b []byte, op int32, done bool) []byte {
	const noError = -1
	return jute.AppendInt32(jute.AppendBool(jute.AppendInt32(b, op), done), noError)
}

// readPart reads the header of each part of an answer: the type of the part, and its
// error code. A part of the error type repeats the code in its body. For an error in a
// multiRead, ClickHouse Keeper keeps the type of the operation and sends no body. So
// the code decides, not the type.
func readPart(r *jute.Reader) (op, code int32, done, ok bool) {
	op, done, code = r.Int32(), r.Bool(), r.Int32()
	if done {
		return op, code, true, op == OpError && !r.Bad() && len(r.Rest()) == 0
	}
	ok = op != OpError || r.Int32() == code
	return op, code, false, ok && !r.Bad()
}

// readMultiAnswer reads a part for each operation, and counts the errors. All parts of
// a failed multi are errors:
//
//   - CodeOK for each operation before the failed one.
//   - The error code for the failed operation.
//   - The same code for every later operation.
func readMultiAnswer(body []byte, zxid int64, parts []Part) (a MultiAnswer, errors int, ok bool) {
	r := jute.NewReader(body)
	a = MultiAnswer{Zxid: zxid, Failed: -1}
	for i := 0; ; i++ {
		op, code, done, ok := readPart(r)
		if !ok || done || i == len(parts) {
			return a, errors, ok && done
		}
		var part PartAnswer
		switch {
		case op == OpError:
			if errors++; code != CodeOK && a.Failed < 0 {
				a.Failed, a.Code = i, code
			}
		case code != CodeOK || !parts[i].isAnsweredBy(op):
			return a, errors, false
		case op == OpSetData:
			part.Stat = readStat(r)
		case op == OpCreate, op == OpCreate2:
			if part.Path = r.String(); !parts[i].path.is(part.Path) {
				return a, errors, false
			}
			if op == OpCreate2 { // newer servers also answer so for containers and TTL nodes
				part.Stat = readStat(r)
			}
		}
		if r.Bad() {
			return a, errors, false
		}
		a.Parts = append(a.Parts, part)
	}
}

// FailureOfMulti returns the error code of the failed operation of a multi, or CodeOK,
// from the body of the answer alone. The parts before the failed operation are errors
// without a code.
func FailureOfMulti(body []byte) int32 {
	r := jute.NewReader(body)
	for {
		switch op, code, done, ok := readPart(r); {
		case !ok, done, op != OpError:
			return CodeOK
		case code != CodeOK:
			return code
		}
	}
}

// isAnsweredBy reports whether a successful part of an answer may have this type.
func (p Part) isAnsweredBy(op int32) bool {
	if p.path.asked == "" {
		return op == p.op
	}
	return op == OpCreate || op == OpCreate2
}

// isAllOrNothing reports whether the answer is consistent: either one operation has
// failed and no part is a result, or no part is an error.
func (a MultiAnswer) isAllOrNothing(errors int) bool {
	if a.Failed < 0 {
		return errors == 0
	}
	return errors == len(a.Parts)
}

// ReadAnswer is the answer to one operation of a MultiRead.
type ReadAnswer struct {
	Data []byte
	Stat *Stat
	Code int32 // CodeOK, or why this operation has failed
}

// MultiReadAnswer is the answer to a MultiRead.
type MultiReadAnswer struct {
	Reads []ReadAnswer // one for each operation
	Zxid  int64        // all operations have read the state after this transaction
}

// MultiRead asks for the data of several nodes. Each operation succeeds or fails
// independently.
func MultiRead(paths ...string) Request[MultiReadAnswer] {
	return Request[MultiReadAnswer]{Op: OpMultiRead, Append: func(b []byte) []byte {
		for _, path := range paths {
			b = pathAndWatch(path, false)(appendMultiHeader(b, OpGetData, false))
		}
		return appendMultiHeader(b, OpError, true)
	}, read: func(_ createdPath, body []byte, zxid int64) (MultiReadAnswer, bool) {
		a, ok := readMultiReadAnswer(body, zxid)
		return a, ok && len(a.Reads) == len(paths)
	}}
}

func readMultiReadAnswer(body []byte, zxid int64) (MultiReadAnswer, bool) {
	r := jute.NewReader(body)
	a := MultiReadAnswer{Zxid: zxid}
	for {
		op, code, done, ok := readPart(r)
		if !ok || done {
			return a, ok
		}
		part := ReadAnswer{Code: code}
		switch {
		case op != OpGetData && op != OpError, op == OpError && code == CodeOK:
			return a, false
		case code == CodeOK: // no result follows another code, whatever the type
			part.Data, part.Stat = bytes.Clone(r.Buffer()), readStat(r)
		}
		if r.Bad() {
			return a, false
		}
		a.Reads = append(a.Reads, part)
	}
}
