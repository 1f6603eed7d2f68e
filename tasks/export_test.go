package tasks

// RefillScript is what fills a queue from its lines.
var RefillScript = refillScript
