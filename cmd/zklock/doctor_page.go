package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/gocurator/curator/debug/snapshot"
	"github.com/gocurator/curator/internal/printable"
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
		// It is not shown: it may have a password.
		return usagef("doctor: no URL of a debug page, such as http://web-1:6060/debug/curatorz")
	}
	query := u.Query()
	query.Set("format", "json")
	u.RawQuery = query.Encode()
	ctx, cancel := context.WithTimeout(ctx, pagePatience)
	defer cancel()
	data, err := fetch(ctx, u)
	if err != nil {
		return fmt.Errorf("doctor: %w", err)
	}
	return e.printSnapshot(data)
}

// fetch reads a page. Its errors have no password of the URL, and nothing of the
// answer that cannot be printed.
func fetch(ctx context.Context, page *url.URL) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, page.String(), nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, statusError{noServer, err}
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, statusError{noServer, fmt.Errorf("%s: %s", page.Redacted(), printable.String(resp.Status))}
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, pageSize))
	if err != nil {
		return nil, statusError{noServer, err}
	}
	return data, nil
}

// printSnapshot prints a snapshot: as it came for programs, and as text for
// people. Texts of other programs are quoted if they cannot be printed.
func (e *env) printSnapshot(data []byte) error {
	var s snapshot.Snapshot
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("doctor: no debug page: %w", err)
	}
	switch {
	case s.Version == 0:
		return errors.New("doctor: no debug page: the answer has no version")
	case s.Version > snapshot.Version:
		fmt.Fprintf(e.err, "zklock: the page has version %d, and this zklock knows %d\n", s.Version, snapshot.Version)
	}
	if e.isJSON() {
		return e.writeJSON(s)
	}
	return s.WriteText(e.out)
}
