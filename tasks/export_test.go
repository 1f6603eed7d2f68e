package tasks

// RefillScript is what fills a queue from its lines.
var RefillScript = refillScript

// Wanted tells whether a provider's queue is to be filled, and takes that back.
func (p *Pump) Wanted(provider string) bool {
	select {
	case <-p.pumped[provider].wanted:
		p.pumped[provider].delivered.Store(0)
		return true
	default:
		return false
	}
}

// Learn has a queue know whether somebody waits in a provider's line.
func (q *Queue) Learn(provider string, lines bool) { q.depthOf(provider).learn(0, lines) }
