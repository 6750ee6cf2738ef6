package clienttrace

import "context"

// Teller calls a hook for code that the hook must not hold up: one call
// after the other, in the order of the posts. The calls run on a goroutine of
// their own, which lives as long as there is something to call.
//
// Authors of recipes get one from framework.Extension. Client.Close waits for
// all Tellers of the client, but no longer than a second from its beginning, or
// a tenth of a second if the rest of Close has taken longer than that.
type Teller interface {
	// Context returns a context for operations that must not be held up by the
	// client's hook: the Teller tells it of them. An operation waits for the
	// hook when it begins, as Wait does, and not when it ends. Call Wait to
	// be sure that the hook was told of the end.
	Context(ctx context.Context) context.Context

	// Post queues a call, and does not wait for it. It reports false, and does
	// nothing, if thousands of calls are under way already and one of them is
	// overdue.
	Post(call func()) bool

	// Tell is Post and Wait. If the call panics while Tell waits, so does Tell,
	// with the same value: the caller may know what to do about it.
	Tell(ctx context.Context, call func()) (told bool)

	// Wait returns when everything that was posted has been called and has
	// returned, and then reports true. It waits no longer than a second, and no
	// longer than a tenth of a second when ctx has ended. While a call of any
	// Teller of the client is overdue, because somebody has waited for it in
	// vain, Wait does not wait at all.
	Wait(ctx context.Context) (told bool)
}
