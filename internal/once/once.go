// Package once marks contexts. With a mark, a recipe that handles lost replies itself
// prevents framework from repeating an operation that framework considers harmless.
package once

import "context"

type (
	transaction struct{}
	single      struct{}
)

// Context returns a context under which a transaction whose reply is lost is of unknown
// outcome, whatever its operations are. The client repeats such a transaction only if
// it was not sent.
func Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, transaction{}, true)
}

// IsAsked reports whether ctx has the mark of Context.
func IsAsked(ctx context.Context) bool { return ctx.Value(transaction{}) != nil }

// Single returns a context under which the client makes one attempt at each
// operation, whatever its retry policy is.
func Single(ctx context.Context) context.Context { return context.WithValue(ctx, single{}, true) }

// IsSingle reports whether ctx has the mark of Single.
func IsSingle(ctx context.Context) bool { return ctx.Value(single{}) != nil }
