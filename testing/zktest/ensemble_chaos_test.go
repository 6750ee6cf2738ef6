package zktest

// recover ends all that meddle may have done.
func (e *Ensemble) recover() {
	for _, m := range e.Members() {
		m.Lag(0)
		m.Restart()
		m.Resume()
		m.Heal()
		m.RefuseConnections(false)
	}
	e.Heal()
}
