package follow

import (
	"context"
	"iter"
)

// Changes yields what next returns, for as long as that is news, and again at
// each Tell of a life, until ctx ends. The end of the life is the last element:
// no value, and Err as named makes it. A life that ends is heard to the end of
// its news.
func Changes[T any](
	ctx context.Context, l *Life, next func() (v T, news bool), named func(error) error,
) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for {
			changed, ended := l.Changed()
			v, news := next()
			switch {
			case ctx.Err() != nil:
				return
			case news:
				if !yield(v, nil) {
					return
				}
				continue
			case ended != nil:
				var none T
				yield(none, named(ended))
				return
			}
			select {
			case <-changed:
			case <-ctx.Done():
			}
		}
	}
}
