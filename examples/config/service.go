package main

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"

	"github.com/gocurator/curator/recipes/codec"
	"github.com/gocurator/curator/recipes/shared"
)

// service is a process that works by its settings as they are now.
type service struct {
	node    *shared.Value[settings]
	log     *slog.Logger
	current atomic.Pointer[settings] // the last good ones; the defaults at first
}

// follow keeps the current settings up to date until ctx ends. It calls use with
// them when the node was read, and each time that the node has changed.
func (s *service) follow(ctx context.Context, use func(settings)) error {
	for now, err := range s.node.Changes(ctx) {
		var bad *codec.DecodeError
		switch {
		case errors.As(err, &bad):
			s.log.Error("bad settings, the last good ones stay", "error", err, "zxid", bad.Mzxid)
		case err != nil:
			return err
		case !now.Exists:
			s.log.Error("settings were deleted, the last good ones stay")
		default:
			old := s.current.Swap(&now.Value)
			s.log.Info("new settings", "by", now.Value.ChangedBy, "old", old, "new", now.Value, "zxid", now.Mzxid)
		}
		use(*s.current.Load())
	}
	return nil
}

// change edits the settings for all processes. If somebody else was faster, it
// edits theirs, so that no change is lost. If the node has no good settings, it
// edits the last good ones. Settings that become invalid are not written.
func (s *service) change(ctx context.Context, by string, edit func(*settings)) error {
	now, err := s.node.Refresh(ctx)
	for written := false; !written; {
		next := now.Value
		var bad *codec.DecodeError
		switch {
		case errors.As(err, &bad), err == nil && !now.Exists:
			next = *s.current.Load()
		case err != nil:
			return err
		}
		edit(&next)
		next.ChangedBy = by
		now, written, err = s.node.TrySet(ctx, now, next)
	}
	return err
}
