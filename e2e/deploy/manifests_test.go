package deploy_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"

	"onejob/config"
)

const (
	manifestDir = "../../deploy/kubernetes/"
	namespace   = "onejob"
)

// manifests are all objects of a directory, by kind and name.
type manifests map[string]any

// newObject makes the empty object of a kind, of the API group a manifest names.
var newObject = map[string]func() any{
	"v1 Namespace":                       func() any { return &core.Namespace{} },
	"v1 ConfigMap":                       func() any { return &core.ConfigMap{} },
	"v1 Secret":                          func() any { return &core.Secret{} },
	"v1 Service":                         func() any { return &core.Service{} },
	"apps/v1 Deployment":                 func() any { return &apps.Deployment{} },
	"apps/v1 StatefulSet":                func() any { return &apps.StatefulSet{} },
	"policy/v1 PodDisruptionBudget":      func() any { return &policy.PodDisruptionBudget{} },
	"networking.k8s.io/v1 NetworkPolicy": func() any { return &networking.NetworkPolicy{} },
}

// read parses every manifest strictly into Kubernetes' own types: a key it does not
// know, or knows otherwise, is an error.
func read(t *testing.T) manifests {
	t.Helper()
	files, err := filepath.Glob(manifestDir + "*.yaml")
	require.NoError(t, err)
	all := manifests{}
	for _, file := range files {
		if filepath.Base(file) == "kustomization.yaml" {
			continue
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for document := range bytes.SplitSeq(text, []byte("\n---\n")) {
			var head struct {
				APIVersion, Kind string
				Metadata         struct{ Name, Namespace string }
			}
			require.NoError(t, yaml.Unmarshal(document, &head), file)
			kind := head.APIVersion + " " + head.Kind
			require.Contains(t, newObject, kind, file)
			object := newObject[kind]()
			require.NoError(t, yaml.UnmarshalStrict(document, object), "%s: %s %s", file, head.Kind, head.Metadata.Name)
			if head.Kind != "Namespace" {
				require.Equal(t, namespace, head.Metadata.Namespace, "%s: %s", file, head.Metadata.Name)
			}
			name := head.Kind + " " + head.Metadata.Name
			require.NotContains(t, all, name, file)
			all[name] = object
		}
	}
	return all
}

func get[T any](t *testing.T, all manifests, name string) T {
	t.Helper()
	object, ok := all[name].(T)
	require.True(t, ok, "there is no %s", name)
	return object
}

// configuration loads the ConfigMap's onejob.yaml as a pod would.
func configuration(t *testing.T, all manifests, options ...config.Option) *config.Config {
	t.Helper()
	secrets := get[*core.Secret](t, all, "Secret onejob").StringData
	text := get[*core.ConfigMap](t, all, "ConfigMap onejob").Data["onejob.yaml"]
	cfg, err := config.Parse("onejob.yaml", []byte(text), func(name string) (string, bool) {
		value, ok := secrets[name]
		return value, ok
	}, options...)
	require.NoError(t, err)
	return cfg
}

// Times a process may take to end, beside drain (docs/deploy.md, "Stopping").
const (
	apiEnds    = 15 * time.Second
	workerEnds = 15 * time.Second
)

// TestKubernetes_Deployments: a worker is given longer than drain, an API longer than
// its requests, and every pod runs with no more rights than it needs.
func TestKubernetes_Deployments(t *testing.T) {
	t.Parallel()
	all := read(t)
	cfg := configuration(t, all)
	for name, least := range map[string]time.Duration{"api": apiEnds, "worker": cfg.Drain + workerEnds} {
		deployment := get[*apps.Deployment](t, all, "Deployment onejob-"+name)
		pod := deployment.Spec.Template.Spec
		require.Len(t, pod.Containers, 1)
		container := pod.Containers[0]
		require.Equal(t, []string{name}, container.Args)
		if container.Lifecycle != nil {
			least += time.Duration(container.Lifecycle.PreStop.Sleep.Seconds) * time.Second
		}
		grace := time.Duration(*pod.TerminationGracePeriodSeconds) * time.Second
		require.GreaterOrEqual(t, grace, least, "%s: SIGKILL comes before it can have ended", name)

		require.Equal(t, deployment.Spec.Selector.MatchLabels, deployment.Spec.Template.Labels)
		require.GreaterOrEqual(t, *deployment.Spec.Replicas, int32(2))
		require.Zero(t, deployment.Spec.Strategy.RollingUpdate.MaxUnavailable.IntValue(), "the new one first")
		budget := get[*policy.PodDisruptionBudget](t, all, "PodDisruptionBudget onejob-"+name)
		require.Equal(t, deployment.Spec.Selector.MatchLabels, budget.Spec.Selector.MatchLabels)
		require.Less(t, budget.Spec.MaxUnavailable.IntValue(), int(*deployment.Spec.Replicas), "a budget that protects nothing")
		restricted(t, pod)
	}
	restricted(t, get[*apps.StatefulSet](t, all, "StatefulSet onejob-redis").Spec.Template.Spec)
}

// restricted is what the namespace enforces, and more.
func restricted(t *testing.T, pod core.PodSpec) {
	t.Helper()
	require.False(t, *pod.AutomountServiceAccountToken)
	require.True(t, *pod.SecurityContext.RunAsNonRoot)
	require.NotZero(t, *pod.SecurityContext.RunAsUser)
	require.Equal(t, core.SeccompProfileTypeRuntimeDefault, pod.SecurityContext.SeccompProfile.Type)
	for _, c := range pod.Containers {
		require.False(t, *c.SecurityContext.AllowPrivilegeEscalation)
		require.True(t, *c.SecurityContext.ReadOnlyRootFilesystem)
		require.Equal(t, []core.Capability{"ALL"}, c.SecurityContext.Capabilities.Drop)
		require.False(t, c.Resources.Limits.Memory().IsZero())
	}
}

// TestKubernetes_Services: what selects pods selects some, at ports they have.
func TestKubernetes_Services(t *testing.T) {
	t.Parallel()
	all := read(t)
	pods := map[string]core.PodTemplateSpec{
		"onejob-api":    get[*apps.Deployment](t, all, "Deployment onejob-api").Spec.Template,
		"onejob-worker": get[*apps.Deployment](t, all, "Deployment onejob-worker").Spec.Template,
		"onejob-redis":  get[*apps.StatefulSet](t, all, "StatefulSet onejob-redis").Spec.Template,
	}
	for name := range map[string]bool{"onejob-api": true, "onejob-redis": true} {
		service := get[*core.Service](t, all, "Service "+name)
		require.Equal(t, service.Spec.Selector, pods[name].Labels)
		for _, port := range service.Spec.Ports {
			require.Contains(t, portsOf(pods[name].Spec), port.TargetPort.String())
		}
	}
	for kind, object := range all {
		policy, ok := object.(*networking.NetworkPolicy)
		if !ok {
			continue
		}
		selected := 0
		for _, pod := range pods {
			if !contains(pod.Labels, policy.Spec.PodSelector.MatchLabels) {
				continue
			}
			selected++
			for _, rule := range policy.Spec.Ingress {
				for _, port := range rule.Ports {
					require.Contains(t, portsOf(pod.Spec), port.Port.String(), kind)
				}
			}
		}
		require.Positive(t, selected, "%s selects nothing", kind)
	}
}

func portsOf(pod core.PodSpec) map[string]int32 {
	ports := map[string]int32{}
	for _, port := range pod.Containers[0].Ports {
		ports[port.Name] = port.ContainerPort
	}
	return ports
}

func contains(labels, wanted map[string]string) bool {
	for key, value := range wanted {
		if labels[key] != value {
			return false
		}
	}
	return true
}

// TestKubernetes_Ports: the ports the pods declare are those the processes listen at,
// and Prometheus is sent to the operators' one.
func TestKubernetes_Ports(t *testing.T) {
	t.Parallel()
	all := read(t)
	cfg := configuration(t, all)
	for _, name := range []string{"api", "worker"} {
		template := get[*apps.Deployment](t, all, "Deployment onejob-"+name).Spec.Template
		ports := portsOf(template.Spec)
		require.Equal(t, fmt.Sprintf("0.0.0.0:%d", ports["http"]), cfg.Server.Addr)
		require.Equal(t, fmt.Sprintf("0.0.0.0:%d", ports["admin"]), cfg.Server.AdminAddr)
		require.Equal(t, fmt.Sprint(ports["admin"]), template.Annotations["prometheus.io/port"])
	}
}
