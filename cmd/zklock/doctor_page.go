package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// pagePatience and pageSize bound what a debug page may cost.
const (
	pagePatience = 10 * time.Second
	pageSize     = 64 << 20
)

// debugPage prints the snapshot of a process, from its debug page.
func (e *env) debugPage(ctx context.Context, address string) error {
	u, err := url.Parse(address)
	if err != nil || !isURL(address) || u.Host == "" {
		return usagef("doctor: %q is no URL of a debug page", address)
	}
	query := u.Query()
	query.Set("format", "json")
	u.RawQuery = query.Encode()
	ctx, cancel := context.WithTimeout(ctx, pagePatience)
	defer cancel()
	data, err := fetch(ctx, u.String())
	if err != nil {
		return fmt.Errorf("doctor: %w", err)
	}
	return e.printSnapshot(data)
}

func fetch(ctx context.Context, address string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, statusError{noServer, err}
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, statusError{noServer, fmt.Errorf("%s: %s", address, resp.Status)}
	}
	return io.ReadAll(io.LimitReader(resp.Body, pageSize))
}

// printSnapshot prints the JSON of a snapshot, in one line.
func (e *env) printSnapshot(data []byte) error {
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		return fmt.Errorf("doctor: no snapshot: %w", err)
	}
	return e.writeJSON(value)
}
