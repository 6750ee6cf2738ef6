package main

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

var update = flag.Bool("update", false, "rewrite the golden files and the picture")

// inProcess passes the spans of an exporter to a collector without a network.
type inProcess struct{ to *collector }

func (p inProcess) Start(context.Context) error { return nil }
func (p inProcess) Stop(context.Context) error  { return nil }

func (p inProcess) UploadTraces(_ context.Context, spans []*tracepb.ResourceSpans) error {
	p.to.add(spans)
	return nil
}

// virtualTraces runs the story in virtual time, with both services in this
// process. It returns the traces, which are the same in every run.
func virtualTraces(t *testing.T) (traces []*span) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		srv.Inject(zktest.Rule{Op: zktest.OpAny, Times: -1, Do: zktest.DelayReply(2 * time.Millisecond)})
		spans := &collector{}
		start := func(name string) *service {
			exporter, err := otlptrace.New(t.Context(), inProcess{spans})
			require.NoError(t, err)
			s, err := startService(t.Context(), name, srv.Addr()+"/shop", exporter,
				framework.WithDialer(srv.Dialer()))
			require.NoError(t, err)
			require.NoError(t, s.client.WaitConnected(t.Context()))
			return s
		}
		cfg, err := parse(nil, io.Discard)
		require.NoError(t, err)
		counting, ordering := start("stock"), start("orders")
		require.NoError(t, open(t.Context(), counting.client))

		answered := make(chan int, 1)
		go func() { answered <- ask(stock{counting, cfg.hold}.handler(), "PUT", "/stock") }()
		time.Sleep(cfg.arrival())
		require.Equal(t, http.StatusOK, ask(orders{ordering}.handler(), "POST", "/orders"))
		require.Equal(t, http.StatusOK, <-answered)
		require.NoError(t, ordering.close(t.Context()))
		require.NoError(t, counting.close(t.Context()))
		traces = tracesOf(spans.all())
	})
	for i, root := range traces {
		root.walk(0, func(s *span, _ int) { normalize(s, i) })
	}
	return traces
}

func ask(handler http.Handler, method, path string) (status int) {
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequest(method, path, nil))
	return answer.Code
}

// normalize replaces everything that differs from run to run and from machine
// to machine.
func normalize(s *span, nth int) {
	ids := []string{"1d93c0a2", "8f21b7e4"}
	s.trace = ids[nth]
	for i := range s.links {
		for n, service := range []string{"stock", "orders"} {
			if s.links[i].to.service == service {
				s.links[i].trace = ids[n]
			}
		}
	}
	host, _ := os.Hostname()
	here := fmt.Sprintf("@%s/%d", host, os.Getpid())
	all := []attributes{s.attributes}
	for _, e := range s.events {
		all = append(all, e.attributes)
	}
	for _, a := range all {
		for key, value := range a {
			if text, ok := value.(string); ok {
				a[key] = strings.ReplaceAll(text, here, "@web-1/4711")
			}
		}
	}
}

func requireGolden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(file, got, 0o666))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err, "run the test with -update")
	require.Equal(t, string(want), string(got), "run the test with -update, and look at what has changed")
}

func TestTree(t *testing.T) {
	var out bytes.Buffer
	printTraces(&out, virtualTraces(t))
	requireGolden(t, filepath.Join("testdata", "tree.golden"), out.Bytes())
}

// pictureFile is the picture that the documents show.
var pictureFile = filepath.Join("..", "..", "docs", "trace.svg")

func TestPicture(t *testing.T) {
	requireGolden(t, pictureFile, draw(virtualTraces(t)))
}

// textsOf returns all text of a picture, which must be well-formed.
func textsOf(t *testing.T, svg []byte) (texts []string) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(svg))
	for inText := false; ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return texts
		}
		require.NoError(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			inText = token.Name.Local == "text" || token.Name.Local == "tspan"
		case xml.EndElement:
			inText = false
		case xml.CharData:
			if inText {
				texts = append(texts, string(token))
			}
		}
	}
}
