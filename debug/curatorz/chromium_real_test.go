//go:build real

package curatorz

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// tab is a page in a headless browser, which listens to its debugging protocol
// on a pipe: no port is open.
type tab struct {
	t       *testing.T
	to      *os.File
	from    *bufio.Reader
	session string // of the page; empty for the browser itself
	last    int    // id of a command
	logged  []string
}

// startBrowser starts a headless Chromium for the test. The test fails on a machine
// that has none.
func startBrowser(t *testing.T) *tab {
	t.Helper()
	var program string
	for _, name := range []string{"chromium-headless-shell", "chromium", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			program = found
			break
		}
	}
	if program == "" {
		t.Fatal("no browser: install Debian's chromium-headless-shell")
	}
	commandsOut, commands, err := os.Pipe()
	require.NoError(t, err)
	answers, answersIn, err := os.Pipe()
	require.NoError(t, err)
	var stderr bytes.Buffer
	cmd := exec.Command(program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
		"--user-data-dir="+t.TempDir(), "--remote-debugging-pipe", "about:blank")
	cmd.ExtraFiles = []*os.File{commandsOut, answersIn} // the browser's 3 and 4
	cmd.Stderr = &stderr
	require.NoError(t, cmd.Start())
	commandsOut.Close()
	answersIn.Close()
	b := &tab{t: t, to: commands, from: bufio.NewReaderSize(answers, 1<<20)}
	t.Cleanup(func() {
		commands.Close() // the browser ends then
		cmd.Wait()
		answers.Close()
		if t.Failed() {
			t.Log(stderr.String())
		}
	})
	answers.SetReadDeadline(time.Now().Add(2 * time.Minute))
	b.open()
	return b
}

// open makes the page.
func (b *tab) open() {
	var target struct{ TargetID string }
	b.do("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.do("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	b.do("Page.enable", nil, nil)
	b.do("Log.enable", nil, nil)
	b.do("Network.enable", nil, nil)
}

// message is an answer or an event.
type message struct {
	ID        int
	SessionID string
	Method    string
	Params    json.RawMessage
	Result    json.RawMessage
	Error     *struct{ Message string }
}

// do carries a command out, and reads its result if that is wanted.
func (b *tab) do(method string, params map[string]any, result any) {
	b.t.Helper()
	b.last++
	command := map[string]any{"id": b.last, "method": method, "params": params}
	if params == nil {
		command["params"] = map[string]any{}
	}
	if b.session != "" {
		command["sessionId"] = b.session
	}
	text, err := json.Marshal(command)
	require.NoError(b.t, err)
	_, err = b.to.Write(append(text, 0))
	require.NoError(b.t, err)
	for {
		m := b.next()
		if m.ID != b.last {
			continue
		}
		require.Nil(b.t, m.Error, "%s: %+v", method, m.Error)
		if result != nil {
			require.NoError(b.t, json.Unmarshal(m.Result, result))
		}
		return
	}
}

// next returns the next message, and keeps what the page logs.
func (b *tab) next() message {
	b.t.Helper()
	text, err := b.from.ReadBytes(0)
	require.NoError(b.t, err, "the browser has ended, or takes too long")
	var m message
	require.NoError(b.t, json.Unmarshal(text[:len(text)-1], &m))
	if m.Method == "Log.entryAdded" {
		b.logged = append(b.logged, string(m.Params))
	}
	return m
}

// await reads until there was an event.
func (b *tab) await(event string) {
	b.t.Helper()
	for b.next().Method != event {
	}
}

// load opens an address, and returns when it is loaded.
func (b *tab) load(address string) {
	b.t.Helper()
	var opened struct{ ErrorText string }
	b.do("Page.navigate", map[string]any{"url": address}, &opened)
	require.Empty(b.t, opened.ErrorText)
	b.await("Page.loadEventFired")
}

// screen sets the size of the screen, and the color scheme.
func (b *tab) screen(width, height int, scheme string) {
	b.t.Helper()
	b.do("Emulation.setDeviceMetricsOverride", map[string]any{
		"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500,
	}, nil)
	b.do("Emulation.setEmulatedMedia", map[string]any{
		"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}},
	}, nil)
}

// eval returns the value of an expression in the page.
func eval[T any](b *tab, expression string) (value T) {
	b.t.Helper()
	var answer struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails any
	}
	b.do("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, &answer)
	require.Nil(b.t, answer.ExceptionDetails, expression)
	require.NoError(b.t, json.Unmarshal(answer.Result.Value, &value), expression)
	return value
}

// screenshot returns a picture of the whole page, as PNG.
func (b *tab) screenshot() []byte {
	b.t.Helper()
	var shot struct{ Data []byte }
	b.do("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true, "clip": map[string]any{
		"x": 0, "y": 0, "scale": 1, "width": eval[float64](b, "document.documentElement.clientWidth"),
		"height": eval[float64](b, "document.documentElement.scrollHeight"),
	}}, &shot)
	require.NoError(b.t, isPNG(shot.Data))
	return shot.Data
}

func isPNG(data []byte) error {
	if !bytes.HasPrefix(data, []byte("\x89PNG\r\n")) {
		return fmt.Errorf("not a PNG: %.20q", data)
	}
	return nil
}
