// Package deploy_test holds the examples in deploy/ to what onejob is: the
// manifests to Kubernetes' own types, every grace period to drain, every probe to a
// path that answers, every configuration to the one that loads.
package deploy_test

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
