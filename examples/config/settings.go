package main

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/gocurator/curator/recipes/codec"
)

// settings are what can be changed while the service runs. ZooKeeper does not
// record who has written a node, so the settings say it.
type settings struct {
	Workers   int    `json:"workers"`  // how many handle orders at once
	Discount  int    `json:"discount"` // percent
	ChangedBy string `json:"changed_by"`
}

var defaults = settings{Workers: 4, ChangedBy: "defaults"}
var errInvalid = errors.New("want 1 to 64 workers, and 0 to 50 % off")

func (s settings) String() string { return fmt.Sprintf("%d workers, %d %% off", s.Workers, s.Discount) }

func (s settings) validate() error {
	if s.Workers < 1 || s.Workers > 64 || s.Discount < 0 || s.Discount > 50 {
		return fmt.Errorf("%v by %q: %w", s, s.ChangedBy, errInvalid)
	}
	return nil
}

// validated returns a codec that neither writes nor reads invalid settings.
func validated() codec.Codec[settings] {
	plain := codec.JSON[settings]()
	return codec.Codec[settings]{
		Encode: func(s settings) ([]byte, error) {
			data, err := plain.Encode(s)
			return data, cmp.Or(err, s.validate())
		},
		Decode: func(data []byte) (settings, error) {
			s, err := plain.Decode(data)
			return s, cmp.Or(err, s.validate())
		},
	}
}
