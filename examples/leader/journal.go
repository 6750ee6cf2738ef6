package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/gocurator/curator/recipes/fence"
)

// heartbeat is an entry of the journal.
type heartbeat struct {
	Worker string
	Number int   // the count in this leadership, from 1
	Token  int64 // the fencing token of the leadership
}

// journal is the resource that only the leader writes to. It does not use
// ZooKeeper. It only refuses fencing tokens that are older than the newest one
// it has seen.
type journal struct {
	guard   fence.Guard
	entries chan<- heartbeat
}

func (j *journal) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var h heartbeat
	if err := json.NewDecoder(r.Body).Decode(&h); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	err := j.guard.Do(h.Token, func() error {
		select {
		case j.entries <- h:
			return nil
		case <-r.Context().Done():
			return r.Context().Err()
		}
	})
	switch {
	case errors.Is(err, fence.ErrStale):
		http.Error(w, err.Error(), http.StatusConflict)
	case err != nil:
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	}
}

// journalClient writes to the journal at a URL.
type journalClient string

// errFenced means that the journal has seen a newer leader.
var errFenced = errors.New("refused: there is a newer leader")

func (j journalClient) write(ctx context.Context, h heartbeat) error {
	body, err := json.Marshal(h)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, string(j), bytes.NewReader(body))
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	switch answer.StatusCode {
	case http.StatusOK:
		return nil
	case http.StatusConflict:
		return errFenced
	default:
		return fmt.Errorf("journal: %s", answer.Status)
	}
}
