package gocron_test

import cron "github.com/gocurator/curator/contrib/gocron"

// Both of README's types are in the package that it imports in this way.
var _, _ = (*cron.Locker)(nil), (*cron.Elector)(nil)
