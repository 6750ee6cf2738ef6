package tracing_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/tracing"
)

func TestOptionsThatCannotBeUsedAreErrorsOfTheClient(t *testing.T) {
	var noSpans *sdktrace.TracerProvider
	var noMetrics *sdkmetric.MeterProvider
	tests := map[string]struct {
		opt  tracing.Option
		name string // of the option, in the error
	}{
		"nil option":              {nil, "option"},
		"nil tracer provider":     {tracing.WithTracerProvider(nil), "tracer provider"},
		"nil pointer to provider": {tracing.WithTracerProvider(noSpans), "tracer provider"},
		"nil meter provider":      {tracing.WithMeterProvider(noMetrics), "meter provider"},
		"nil propagators":         {tracing.WithPropagators(nil), "propagators"},
		"nil logger":              {tracing.WithLogger(nil), "logger"},
		"logger without handler":  {tracing.WithLogger(&slog.Logger{}), "logger"},
		"negative slow wait":      {tracing.WithSlowWait(-time.Second), "slow wait"},
		"negative slow hold":      {tracing.WithSlowHold(-time.Second), "slow hold"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tracer := tracing.New(tracing.WithoutTraceIDs(), tt.opt)
			_, err := framework.New("127.0.0.1:1", framework.WithHooks(tracer))
			var invalid *framework.ConfigError
			require.ErrorAs(t, err, &invalid)
			require.Equal(t, tt.name, invalid.Name)
			require.Equal(t, err, errOf(tracer))
		})
	}
}

// errOf returns what framework.New asks a hook for.
func errOf(hook clienttrace.Hook) error { return hook.(interface{ Err() error }).Err() }
