package locks_test

import (
	"bytes"
	"errors"
	"log"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

var _ = main // a person runs it: see README.md

func TestReportStopsWhenTheSessionIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		host := srv.NewHost() // the machine that the client runs on
		client := curatortest.Connect(t, srv, framework.WithDialer(host.Dialer()))
		time.AfterFunc(5*time.Second, func() { host.LoseSessions() }) // cuts the machine off
		err := nightlyReport(t.Context(), client)
		if !errors.Is(err, framework.ErrSessionLost) {
			t.Fatal(err)
		}
	})
}

// The second of two processes waits, says for whom, and takes its turn.
func TestSecondReportWaitsAndNamesTheHolder(t *testing.T) {
	var out bytes.Buffer
	log.SetOutput(&out)
	defer log.SetOutput(os.Stderr)
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		var both sync.WaitGroup
		start := time.Now()
		for i := range 2 {
			client := curatortest.Connect(t, srv, framework.WithServiceName("report"))
			both.Go(func() {
				time.Sleep(time.Duration(i) * time.Second)
				if err := nightlyReport(t.Context(), client); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
		require.Equal(t, time.Minute, time.Since(start))
	})
	require.Equal(t, 60, strings.Count(out.String(), "wrote page "))
	require.Regexp(t, `waiting: acquire /locks/nightly-report: not acquired: 1 ahead, held by report@\S+/\d+, `, out.String())
}
