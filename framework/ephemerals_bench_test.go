package framework

import "testing"

// The cost of keeping account of a lock's node, beside some twenty microseconds
// for a cycle of an uncontended lock.
func BenchmarkOwned(b *testing.B) {
	const path = "/shop/locks/sku-42/_c_12345678-1234-1234-1234-123456789abc-lock-0000000042"
	s := &Session{client: &Client{core: &core{cfg: defaultConfig()}}}
	b.ReportAllocs()
	for b.Loop() {
		s.ephemeralCreated(path)
		s.nodeGone(path)
	}
}
