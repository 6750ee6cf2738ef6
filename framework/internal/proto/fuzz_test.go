package proto

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework/internal/jute"
)

// readers are all functions of the package that read bytes of a peer.
var readers = []func([]byte){
	func(b []byte) { GetData("/", false).Read(b, 0) },
	func(b []byte) { Exists("/", false).Read(b, 0) },
	func(b []byte) { Children("/", false).Read(b, 0) },
	func(b []byte) { ChildNames("/").Read(b, 0) },
	func(b []byte) { GetACL("/").Read(b, 0) },
	func(b []byte) { Sync("/").Read(b, 0) },
	func(b []byte) { Create(NewNode{}).Read(b, 0) },
	func(b []byte) { SetData("/", nil, 0).Read(b, 0) },
	func(b []byte) { SetACL("/", nil, 0).Read(b, 0) },
	func(b []byte) { Delete("/", 0).Read(b, 0) },
	func(b []byte) { Auth("digest", nil).Read(b, 0) },
	func(b []byte) { Multi().Read(b, 0) },
	func(b []byte) { MultiRead().Read(b, 0) },
	func(b []byte) { ReadRequestHeader(b) },
	func(b []byte) { ReadReplyHeader(b) },
	func(b []byte) { ReadConnectRequest(b) },
	func(b []byte) { ReadConnectResponse(b) },
	func(b []byte) { ReadWatcherEvent(b) },
}

// No bytes of a peer make a reader panic, or take more memory than in
// proportion to their length.
func FuzzReaders(f *testing.F) {
	huge := jute.AppendInt32(nil, 0x7fffffff)
	for kind := range readers {
		f.Add(kind, []byte{})
		f.Add(kind, huge)
		f.Add(kind, append(jute.AppendInt32(nil, 100), make([]byte, 1200)...))
		f.Add(kind, jute.AppendString(nil, "server.1=a:1:2:participant;0.0.0.0:2181\nversion=1"))
		f.Add(kind, append(jute.AppendInt32(nil, OpCreate2), make([]byte, 1<<10)...))
		f.Add(kind, append(jute.AppendInt32(nil, OpGetData), make([]byte, 1<<10)...))
		f.Add(kind, append(jute.AppendInt32(nil, OpGetChildren), make([]byte, 1<<10)...))
		f.Add(kind, append(jute.AppendInt32(nil, OpError), make([]byte, 1<<10)...))
	}
	f.Fuzz(func(t *testing.T, kind int, body []byte) {
		read := readers[uint(kind)%uint(len(readers))]
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		read(body)
		runtime.ReadMemStats(&after)
		require.LessOrEqual(t, after.TotalAlloc-before.TotalAlloc, uint64(256<<10+64*len(body)))
	})
}

// Headers and handshakes have both directions in this package: what is appended
// reads the same.
func FuzzHeaders(f *testing.F) {
	f.Add(int32(1), int32(OpSync), int64(7), "/a", []byte("password"))
	f.Add(int32(-1), int32(-112), int64(-1), "", []byte(nil))
	f.Fuzz(func(t *testing.T, a, b int32, n int64, path string, buffer []byte) {
		request, ok := ReadRequestHeader(RequestHeader{a, b}.Append(nil))
		require.True(t, ok)
		require.Equal(t, RequestHeader{a, b}, request)

		reply, rest, ok := ReadReplyHeader(append(ReplyHeader{a, n, b}.Append(nil), path...))
		require.True(t, ok)
		require.Equal(t, ReplyHeader{a, n, b}, reply)
		require.Equal(t, path, string(rest))

		connect := ConnectRequest{LastZxid: n, TimeoutMillis: a, Session: -n, Password: buffer}
		gotConnect, ok := ReadConnectRequest(connect.Append(nil))
		require.True(t, ok)
		require.Equal(t, connect, gotConnect)

		response := ConnectResponse{TimeoutMillis: a, Session: n, Password: buffer}
		gotResponse, rest, ok := ReadConnectResponse(append(response.Append(nil), 1))
		require.True(t, ok)
		require.Equal(t, response, gotResponse)
		require.Equal(t, []byte{1}, rest)

		event := WatcherEvent{Type: a, State: b, Path: path}
		gotEvent, ok := ReadWatcherEvent(event.Append(nil))
		require.True(t, ok)
		require.Equal(t, event, gotEvent)
	})
}

// A test's server writes what the readers of answers expect, and reads what the
// requests have appended. It is written out by hand, field by field, as in
// ZooKeeper's zookeeper.jute.
func FuzzRequestsAndAnswers(f *testing.F) {
	f.Add("/a", []byte("data"), int32(3), int64(1<<40), true)
	f.Add("", []byte(nil), int32(-1), int64(-1), false)
	f.Fuzz(func(t *testing.T, text string, data []byte, n int32, long int64, flag bool) {
		stat := &Stat{
			Czxid: long, Mzxid: long + 1, Ctime: long + 2, Mtime: long + 3, Version: n, Cversion: n + 1, Aversion: n + 2,
			EphemeralOwner: long + 4, DataLength: n + 3, NumChildren: n + 4, Pzxid: long + 5,
		}
		acl := []ACL{{Perms: n, Scheme: "world", ID: "anyone"}, {Perms: n + 1, Scheme: text, ID: text}}

		requireBody(t, GetData(text, flag).Append, OpGetData, GetData(text, flag).Op, text, flag)
		requireBody(t, Exists(text, flag).Append, OpExists, Exists(text, flag).Op, text, flag)
		requireBody(t, Children(text, flag).Append, OpGetChildren2, Children(text, flag).Op, text, flag)
		requireBody(t, GetACL(text).Append, OpGetACL, GetACL(text).Op, text)
		requireBody(t, Sync(text).Append, OpSync, Sync(text).Op, text)
		requireBody(t, SetData(text, data, n).Append, OpSetData, SetData(text, data, n).Op, text, data, n)
		requireBody(t, SetACL(text, acl, n).Append, OpSetACL, SetACL(text, acl, n).Op, text, acl, n)
		requireBody(t, Delete(text, n).Append, OpDelete, Delete(text, n).Op, text, n)
		requireBody(t, Check(text, n).Append, OpCheck, Check(text, n).Op, text, n)
		requireBody(t, Auth(text, data).Append, OpAuth, Auth(text, data).Op, int32(0), text, data)
		for mode, op := range map[int32]int32{
			ModePersistent: OpCreate, ModeEphemeralSequential: OpCreate, ModeContainer: OpCreateContainer,
		} {
			q := Create(NewNode{text, data, acl, mode, long})
			requireBody(t, q.Append, op, q.Op, text, data, acl, mode)
		}
		for _, mode := range []int32{ModePersistentTTL, ModePersistentSequentialTTL} {
			q := Create(NewNode{text, data, acl, mode, long})
			requireBody(t, q.Append, OpCreateTTL, q.Op, text, data, acl, mode, long)
		}

		requireAnswer(t, GetData(text, flag), Data{data, stat}, data, stat)
		requireAnswer(t, Exists(text, flag), stat, stat)
		requireAnswer(t, SetData(text, data, n), stat, stat)
		requireAnswer(t, SetACL(text, acl, n), stat, stat)
		requireAnswer(t, ChildNames(text), []string{text, "b"}, int32(2), text, "b", stat)
		requireAnswer(t, Children(text, flag), ChildrenAnswer{[]string{text, "b"}, stat}, int32(2), text, "b", stat)
		requireAnswer(t, GetACL(text), ACLAnswer{acl, stat}, acl, stat)
		requireAnswer(t, Sync(text), text, text)
		requireAnswer(t, Create(NewNode{Path: text}), Created{text, answerZxid}, text)
		requireAnswer(t, Delete(text, n), Nothing{})
	})
}

func TestMulti(t *testing.T) {
	acl, stat := []ACL{{Perms: 31, Scheme: "world", ID: "anyone"}}, &Stat{Czxid: 7, Version: 2}
	q := Multi(
		Create(NewNode{"/a", []byte("x"), acl, ModePersistent, 0}).Part(),
		SetData("/b", []byte("y"), 1).Part(), Delete("/c", 2).Part(), Check("/d", 3).Part(),
		Create(NewNode{"/e", nil, acl, ModeContainer, 0}).Part())
	requireBody(t, q.Append, OpMulti, q.Op,
		OpCreate, false, int32(-1), "/a", []byte("x"), acl, ModePersistent,
		OpSetData, false, int32(-1), "/b", []byte("y"), int32(1),
		OpDelete, false, int32(-1), "/c", int32(2),
		OpCheck, false, int32(-1), "/d", int32(3),
		OpCreateContainer, false, int32(-1), "/e", []byte(nil), acl, ModeContainer,
		OpError, true, int32(-1))

	requireAnswer(t, q, MultiAnswer{
		Parts: []PartAnswer{{Path: "/a"}, {Stat: stat}, {}, {}, {Path: "/e", Stat: stat}}, Zxid: answerZxid, Failed: -1,
	},
		OpCreate, false, int32(0), "/a",
		OpSetData, false, int32(0), stat,
		OpDelete, false, int32(0),
		OpCheck, false, int32(0),
		OpCreate2, false, int32(0), "/e", stat,
		OpError, true, int32(-1))

	requireAnswer(t, q, MultiAnswer{Parts: make([]PartAnswer, 5), Zxid: answerZxid, Failed: 1, Code: CodeBadVersion},
		OpError, false, int32(0), CodeOK,
		OpError, false, CodeBadVersion, CodeBadVersion,
		OpError, false, CodeRuntimeInconsistency, CodeRuntimeInconsistency,
		OpError, false, CodeRuntimeInconsistency, CodeRuntimeInconsistency,
		OpError, false, CodeRuntimeInconsistency, CodeRuntimeInconsistency,
		OpError, true, int32(-1))
}

func TestMultiRead(t *testing.T) {
	stat := &Stat{Czxid: 7, Version: 2}
	q := MultiRead("/a", "/b")
	requireBody(t, q.Append, OpMultiRead, q.Op,
		OpGetData, false, int32(-1), "/a", false,
		OpGetData, false, int32(-1), "/b", false,
		OpError, true, int32(-1))
	requireAnswer(t, q, MultiReadAnswer{
		Reads: []ReadAnswer{{Data: []byte("x"), Stat: stat}, {Code: CodeNoNode}}, Zxid: answerZxid,
	},
		OpGetData, false, int32(0), []byte("x"), stat,
		OpError, false, CodeNoNode, CodeNoNode,
		OpError, true, int32(-1))
}

// An error of a multiRead keeps the type of its operation on ClickHouse Keeper, and
// has no body.
func TestMultiReadErrorsOfClickHouseKeeper(t *testing.T) {
	stat := &Stat{Czxid: 7, Version: 2}
	requireAnswer(t, MultiRead("/a", "/b", "/c"), MultiReadAnswer{
		Reads: []ReadAnswer{{Code: CodeNoNode}, {Data: []byte("x"), Stat: stat}, {Code: CodeNoAuth}}, Zxid: answerZxid,
	},
		OpGetData, false, CodeNoNode,
		OpGetData, false, int32(0), []byte("x"), stat,
		OpGetData, false, CodeNoAuth,
		OpError, true, int32(-1))
}

// An answer says several things twice. If it contradicts itself, or what was asked,
// nobody knows what it means.
func TestAnswersThatContradictThemselvesAreMalformed(t *testing.T) {
	const ok = int32(0)
	stat := &Stat{Czxid: 7}
	ended := func(fields ...any) []byte { return append(encode(fields...), encode(OpError, true, int32(-1))...) }
	reads := func(q Request[MultiReadAnswer]) func([]byte) bool {
		return func(b []byte) bool { _, ok := q.Read(b, answerZxid); return ok }
	}
	writes := func(parts ...Part) func([]byte) bool {
		return func(b []byte) bool { _, ok := Multi(parts...).Read(b, answerZxid); return ok }
	}
	creates := func(path string, mode int32) func([]byte) bool {
		return func(b []byte) bool { _, ok := Create(NewNode{Path: path, Mode: mode}).Read(b, answerZxid); return ok }
	}
	one := reads(MultiRead("/a"))
	create := Create(NewNode{Path: "/a"}).Part()
	numbered := Create(NewNode{Path: "/a-", Mode: ModeEphemeralSequential}).Part()
	remove, set := Delete("/b", 0).Part(), SetData("/c", nil, 0).Part()
	for name, c := range map[string]struct {
		read   func([]byte) bool
		answer []byte
		ok     bool
	}{
		"multiRead":                          {one, ended(OpGetData, false, ok, []byte("x"), stat), true},
		"multiRead, an error without a code": {one, ended(OpError, false, ok, ok), false},
		"multiRead, two codes":               {one, ended(OpError, false, CodeNoNode, CodeNoAuth), false},
		"multiRead, a code in the body only": {one, ended(OpError, false, ok, CodeNoNode), false},
		"multiRead, a result with a code":    {one, ended(OpGetData, false, CodeNoNode, []byte("x"), stat), false},
		"multiRead, another result":          {one, ended(OpGetChildren, false, ok, int32(0)), false},
		"multiRead, an unknown type":         {one, ended(OpExists, false, ok, stat), false},
		"multiRead, too few":                 {one, ended(), false},
		"multiRead, too many":                {reads(MultiRead()), ended(OpError, false, CodeNoNode, CodeNoNode), false},
		"multiRead, an end of a type":        {reads(MultiRead()), encode(OpGetData, true, int32(-1)), false},
		"multiRead, bytes behind the end":    {reads(MultiRead()), append(ended(), 0), false},

		"multi":                       {writes(create, remove), ended(OpCreate, false, ok, "/a", OpDelete, false, ok), true},
		"multi, numbered":             {writes(numbered), ended(OpCreate, false, ok, "/a-01"), true},
		"multi, results exchanged":    {writes(create, remove), ended(OpDelete, false, ok, OpCreate, false, ok, "/a"), false},
		"multi, another type":         {writes(set), ended(OpDelete, false, ok), false},
		"multi, a result with a code": {writes(remove), ended(OpDelete, false, CodeNoNode), false},
		"multi, two codes":            {writes(remove), ended(OpError, false, CodeNoNode, CodeNoAuth), false},
		"multi, an error that is none": {
			writes(remove), ended(OpError, false, ok, ok), false,
		},
		"multi, a result before the error": {
			writes(remove, set), ended(OpDelete, false, ok, OpError, false, CodeNoNode, CodeNoNode), false,
		},
		"multi, a result behind the error": {
			writes(set, remove), ended(OpError, false, CodeNoNode, CodeNoNode, OpDelete, false, ok), false,
		},
		"multi, too few":              {writes(remove, remove), ended(OpDelete, false, ok), false},
		"multi, too many":             {writes(remove), ended(OpDelete, false, ok, OpDelete, false, ok), false},
		"multi, an end of a type":     {writes(), encode(OpDelete, true, int32(-1)), false},
		"multi, bytes behind the end": {writes(), append(ended(), 0), false},
		"multi, another path":         {writes(create), ended(OpCreate, false, ok, "/b"), false},
		"multi, no path":              {writes(create), ended(OpCreate, false, ok, ""), false},
		"multi, no number":            {writes(numbered), ended(OpCreate, false, ok, "/a-"), false},

		"create":                    {creates("/a", ModePersistent), encode("/a"), true},
		"create, another path":      {creates("/a", ModePersistent), encode("/a0000000001"), false},
		"create, numbered":          {creates("/a", ModeEphemeralSequential), encode("/a0000000001"), true},
		"create, no number":         {creates("/a", ModeEphemeralSequential), encode("/a"), false},
		"create, another name":      {creates("/a", ModeEphemeralSequential), encode("/b0000000001"), false},
		"create, no path":           {creates("/a", ModePersistent), encode(""), false},
		"create, TTL with a number": {creates("/a", ModePersistentSequentialTTL), encode("/a0000000001"), true},
	} {
		require.Equal(t, c.ok, c.read(c.answer), name)
	}
}

func TestMissingNodeIsAnAnswerToExistsOnly(t *testing.T) {
	require.True(t, Exists("/a", false).NoNodeIsAnswer)
	require.False(t, GetData("/a", false).NoNodeIsAnswer)
	require.False(t, Delete("/a", 0).NoNodeIsAnswer)
}

const answerZxid = 42

func requireBody(t *testing.T, got func([]byte) []byte, wantOp, op int32, fields ...any) {
	t.Helper()
	require.Equal(t, wantOp, op)
	require.Equal(t, encode(fields...), got([]byte{}))
}

// requireAnswer also reads the answer with fields of a newer server at its end, and
// each part of the answer that is too short. The answer to a multi has an end marker,
// and nothing follows it.
func requireAnswer[T any](t *testing.T, q Request[T], want T, fields ...any) {
	t.Helper()
	body := encode(fields...)
	got, ok := q.Read(body, answerZxid)
	require.True(t, ok)
	require.Equal(t, want, got)
	for _, more := range []int{1, 100} {
		got, ok = q.Read(append(encode(fields...), make([]byte, more)...), answerZxid)
		if require.Equal(t, q.Op != OpMulti && q.Op != OpMultiRead, ok); !ok {
			continue
		}
		require.Equal(t, want, got)
	}
	if len(body) > 0 {
		_, ok = q.Read(body[:len(body)-1], answerZxid)
		require.False(t, ok)
	}
}

// encode writes fields as a server does.
func encode(fields ...any) []byte {
	b := []byte{}
	for _, field := range fields {
		switch v := field.(type) {
		case int: // an operation code
			b = jute.AppendInt32(b, int32(v))
		case int32:
			b = jute.AppendInt32(b, v)
		case int64:
			b = jute.AppendInt64(b, v)
		case bool:
			b = jute.AppendBool(b, v)
		case string:
			b = jute.AppendString(b, v)
		case []byte:
			b = jute.AppendBuffer(b, v)
		case []ACL:
			b = jute.AppendInt32(b, int32(len(v)))
			for _, a := range v {
				b = append(b, encode(a.Perms, a.Scheme, a.ID)...)
			}
		case *Stat:
			b = append(b, encode(v.Czxid, v.Mzxid, v.Ctime, v.Mtime, v.Version, v.Cversion, v.Aversion,
				v.EphemeralOwner, v.DataLength, v.NumChildren, v.Pzxid)...)
		default:
			panic("encode: unknown type")
		}
	}
	return b
}
