// Package locktrace defines the events of locks and leaderships that a tracing system
// receives: of each acquire, from the call to its outcome, and of each hold, from the
// grant to its end. It is to the recipes what net/http/httptrace is to net/http. Only
// authors of hooks need this package; package tracing has a hook for OpenTelemetry.
//
// Pass a value with the method of [HookStartAcquire] or [HookHoldEnded] to
// framework.WithHooks.
package locktrace

import "github.com/gocurator/curator/framework"

// The declarations register the hooks with the client, even if the program has no locks.
var (
	_ = framework.NewHookKind[HookStartAcquire]()
	_ = framework.NewHookKind[HookHoldEnded]()
)
