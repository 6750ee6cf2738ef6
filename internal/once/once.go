// Package once has the mark of a request that must not be made twice, although
// framework takes it for one that can be repeated without harm.
package once

import "context"

type key struct{}

// Context returns a context under which a transaction whose reply is lost is of
// unknown outcome, whatever its operations are. A policy of package retry cannot
// say that: the policy of a retry.Do around the caller comes before it.
func Context(ctx context.Context) context.Context { return context.WithValue(ctx, key{}, true) }

// IsAsked reports whether ctx has the mark.
func IsAsked(ctx context.Context) bool { return ctx.Value(key{}) != nil }
