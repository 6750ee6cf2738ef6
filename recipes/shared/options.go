package shared

// Option configures a Value.
type Option func(*config)

type config struct {
	uniqueData bool
}

// WithUniqueData says that no bytes are ever written twice, neither by two
// writers nor by one, and that no seed is written with TrySet or Set. That is
// so if each value has the name of its writer and a number in it. TrySet then
// knows its own bytes after its reply was lost, where it would return
// framework.ErrOutcomeUnknown otherwise.
func WithUniqueData() Option {
	return func(c *config) { c.uniqueData = true }
}

func configured(opts []Option) (config, error) {
	var cfg config
	for _, opt := range opts {
		if opt == nil {
			return cfg, bad("option", "nil", "must not be nil")
		}
		opt(&cfg)
	}
	return cfg, nil
}
