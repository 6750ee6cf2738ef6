package proto

import "github.com/gocurator/curator/framework/internal/jute"

// The client only reads these messages. They are written for the tests of how
// it reads them.

func (h ReplyHeader) Append(b []byte) []byte {
	b = jute.AppendInt64(jute.AppendInt32(b, h.Xid), h.Zxid)
	return jute.AppendInt32(b, h.Code)
}

func (a ConnectResponse) Append(b []byte) []byte {
	b = jute.AppendInt32(b, protocolVersion)
	b = jute.AppendInt32(b, a.TimeoutMillis)
	b = jute.AppendInt64(b, a.Session)
	return jute.AppendBuffer(b, a.Password)
}

func (e WatcherEvent) Append(b []byte) []byte {
	return jute.AppendString(jute.AppendInt32(jute.AppendInt32(b, e.Type), e.State), e.Path)
}
