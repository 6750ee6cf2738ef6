package semconv

// TwoRecipes is a line of the log that zklock shows in any case. It is no name of
// telemetry.
const TwoRecipes = "two recipes use one path, and neither waits for the other"
