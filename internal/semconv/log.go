package semconv

// TwoRecipes is a log line that zklock always shows. It is not a name of telemetry.
const TwoRecipes = "two recipes use one path, and neither waits for the other"
