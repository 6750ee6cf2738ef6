//go:build real

package zktest

import (
	"testing"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

func TestWatchesConform(t *testing.T) {
	conform(t, "standard", func(s *stage) {
		a, b := s.client(), s.client()
		watch := func(path string) {
			b.exists(path, true)
			b.get(path, true)
			b.children(path, true)
		}
		watch("/w")
		a.create("/w", none)
		watch("/w")
		a.create("/w/x", none)
		watch("/w")
		watch("/w/x")
		a.set("/w/x", "new", -1)
		a.set("/w", "new", -1)
		watch("/w")
		watch("/w/x")
		a.do(wire.OpSetACL, "/w", datatree.OpenACL, -1)
		a.delete("/w/x", -1)
		watch("/w")
		b.do(wire.OpSync, "/")
		a.delete("/w", -1)
		b.do(wire.OpSync, "/")
	})
	conform(t, "own writes", func(s *stage) {
		a := s.client()
		a.create("/w", none)
		a.get("/w", true)
		a.children("/w", true)
		a.set("/w", "new", -1)
		a.create("/w/x", none)
		a.get("/w/x", true)
		a.children("/w", true)
		a.children("/w/x", true)
		a.delete("/w/x", -1)
	})
	conform(t, "end of a session", func(s *stage) {
		a, b := s.client(), s.client()
		a.create("/w", none)
		a.create("/w/e", wire.FlagEphemeral)
		b.get("/w/e", true)
		b.children("/w", true)
		a.get("/w/e", true)
		a.do(wire.OpCloseSession)
		b.do(wire.OpGetChildren2, "/w", true)
	})
	conform(t, "end of a connection", func(s *stage) {
		a, b := s.client(), s.client()
		a.create("/w", none)
		b.get("/w", true)
		b.reconnect()
		a.set("/w", "new", -1)
		b.do(wire.OpSync, "/")
	})
	conform(t, "catching up", func(s *stage) {
		a, b := s.client(), s.client()
		for _, path := range []string{"/same", "/set", "/parent", "/gone"} {
			a.create(path, none)
		}
		b.do(wire.OpSync, "/")
		seen := s.last
		a.set("/set", "new", -1)
		a.create("/parent/x", none)
		a.delete("/gone", -1)
		a.create("/new", none)
		all := []string{"/same", "/set", "/parent", "/gone", "/new", "/never"}
		for _, path := range all {
			b.do(wire.OpSetWatches, seen, []string{path}, []string{}, []string{})
			b.do(wire.OpSetWatches, seen, []string{}, []string{path}, []string{})
			b.do(wire.OpSetWatches, seen, []string{}, []string{}, []string{path})
			b.do(wire.OpSync, "/")
		}
		b.do(wire.OpSetWatches, seen, all, all, all)
		a.do(wire.OpDelete, "/parent/x", -1)
		for _, path := range all {
			a.create(path, none)
			a.delete(path, -1)
		}
		b.do(wire.OpSync, "/")
	})
	conform(t, "persistent", func(s *stage) {
		a, b := s.client(), s.client()
		b.do(wire.OpAddWatch, "/w", 0)
		b.do(wire.OpAddWatch, "bad", 0)
		for range 2 {
			a.create("/w", none)
			a.set("/w", "new", -1)
			a.create("/w/x", none)
			a.set("/w/x", "new", -1)
			a.delete("/w/x", -1)
			a.delete("/w", -1)
		}
	})
	conform(t, "recursive", func(s *stage) {
		a, b := s.client(), s.client()
		b.do(wire.OpAddWatch, "/w", 1)
		b.do(wire.OpAddWatch, "/w/x", 1)
		for range 2 {
			a.create("/w", none)
			a.create("/w/x", none)
			a.create("/w/x/y", none)
			a.create("/wx", none)
			a.set("/w/x", "new", -1)
			a.delete("/wx", -1)
			a.delete("/w/x/y", -1)
			a.delete("/w/x", -1)
			a.delete("/w", -1)
		}
		b.reconnect()
		b.do(wire.OpSetWatches2, int64(0), []string{}, []string{}, []string{}, []string{"/p"}, []string{"/r", "/"})
		a.create("/p", none)
		a.create("/p/x", none)
		a.create("/r", none)
		a.create("/r/x", none)
		a.create("/q", none)
	})
	conformInEachVersion(t, "modes on one path", func(s *stage) {
		a, b := s.client(), s.client()
		a.create("/w", none)
		b.do(wire.OpAddWatch, "/w", 0)
		b.do(wire.OpAddWatch, "/w", 1)
		for range 2 {
			b.get("/w", true)
			b.children("/w", true)
			a.set("/w", "new", -1)
			a.create("/w/x", none)
			b.get("/w/x", true)
			b.children("/w/x", true)
			a.set("/w/x", "new", -1)
			a.delete("/w/x", -1)
		}
	})
	conformInEachVersion(t, "removing", func(s *stage) {
		set := []func(b *player){
			func(b *player) { b.get("/w", true) },
			func(b *player) { b.children("/w", true) },
			func(b *player) { b.do(wire.OpAddWatch, "/w", 0) },
			func(b *player) { b.do(wire.OpAddWatch, "/w", 1) },
		}
		a, b := s.client(), s.client()
		a.create("/w", none)
		for kind := range 7 {
			for _, watch := range set {
				watch(b)
				b.do(wire.OpCheckWatches, "/w", kind)
			}
			b.do(wire.OpRemoveWatches, "/w", kind)
			b.do(wire.OpRemoveWatches, "/w", kind)
			a.set("/w", "new", -1)
			a.create("/w/x", none)
			a.delete("/w/x", -1)
			b.do(wire.OpRemoveWatches, "/w", 3)
		}
		b.do(wire.OpRemoveWatches, "/none", 3)
	})
}
