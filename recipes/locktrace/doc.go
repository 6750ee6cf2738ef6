// Package locktrace defines the events of locks and leaderships that a tracing system
// receives: of each acquire, from the call to its outcome, and of each hold, from the
// grant to its end. It is to the recipes what net/http/httptrace is to net/http. Only the
// author of a hook needs this package; package tracing has a hook for OpenTelemetry.
//
// Each value given to framework.WithHooks that has the method of
// [HookStartAcquire] or [HookHoldEnded] takes part.
package locktrace

import "github.com/gocurator/curator/framework"

// A client knows the hooks even if the program has no locks.
var (
	_ = framework.NewHookKind[HookStartAcquire]()
	_ = framework.NewHookKind[HookHoldEnded]()
)
