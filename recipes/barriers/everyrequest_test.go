package barriers_test

import (
	"time"

	"github.com/gocurator/curator/testing/zktest"
)

// fates are what may happen to a request.
func fates(w *world) map[string]zktest.Action {
	expire := zktest.Call(func(r zktest.Request) { go w.Fake.Session(r.Session).Expire() })
	expireAfter := zktest.CallAfter(func(r zktest.Request) { go w.Fake.Session(r.Session).Expire() })
	return map[string]zktest.Action{
		"answered late":         zktest.DelayReply(4 * time.Second),
		"processed late":        zktest.DelayRequest(4 * time.Second),
		"answered too late":     zktest.DelayReply(time.Minute),
		"processed too late":    zktest.DelayRequest(time.Minute),
		"swallowed":             zktest.Blackhole(),
		"answer swallowed":      zktest.BlackholeReply(),
		"lost":                  zktest.DropRequest(),
		"answer lost":           zktest.DropReply(),
		"lost with the session": zktest.All(expire, zktest.DropRequest()),
		"session lost after":    zktest.All(expireAfter, zktest.DropReply()),
		"session ended before":  expire,
		"session replaced":      zktest.All(zktest.Call(func(r zktest.Request) { w.Fake.Session(r.Session).Replace() }), zktest.DropReply()),
	}
}

var fateNames = []string{
	"answered late", "processed late", "answered too late", "processed too late", "swallowed", "answer swallowed",
	"lost", "answer lost", "lost with the session", "session lost after", "session ended before", "session replaced",
}
