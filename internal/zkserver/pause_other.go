//go:build !unix

package zkserver

import "errors"

func (p *process) pause() (resumed <-chan struct{}, err error) { return nil, errors.ErrUnsupported }
func (p *process) resume() error                               { return errors.ErrUnsupported }
