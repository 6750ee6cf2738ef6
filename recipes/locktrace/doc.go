// Package locktrace defines what a tracing system is told of locks and
// leaderships: of each acquire, from the call to its outcome, and of each hold,
// from the grant to its end. It is to the recipes what net/http/httptrace is to
// net/http. Only those who write a hook need it; package tracing has one for
// OpenTelemetry.
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
