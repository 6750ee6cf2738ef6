package seat

import "context"

// signal is something that happens once. Few wait for it, so that it has a context only
// when somebody asks. The mutex of its owner protects it.
type signal struct {
	on  bool            // it has happened
	ctx context.Context // ends then
	end context.CancelFunc
}

func (s *signal) happen() {
	s.on = true
	if s.end != nil {
		s.end()
	}
}

// context returns a context that ends when it happens.
func (s *signal) context() context.Context {
	if s.ctx == nil {
		s.ctx, s.end = context.WithCancel(context.Background())
		if s.on {
			s.end()
		}
	}
	return s.ctx
}
